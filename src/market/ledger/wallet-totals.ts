/** Sums over the ledger of a wallet that are not part of a position. Amounts are micros, times Unix seconds. */
import type { TokenId } from "../../base/ids.ts";
import type { FoldRow } from "./position.ts";

/** Trades in sums. The volume is the collateral of the wallet's own side, before fees. */
export type TradeSums = { trades: number; volume: bigint; fees: bigint };

type TokenTrades = TradeSums & { lastTimestamp: number };

/** The trades of a wallet, in total and by token. A fill as operator counts as taker. */
export class WalletTotals {
  readonly maker: TradeSums = emptySums();
  readonly taker: TradeSums = emptySums();
  readonly byToken = new Map<TokenId, TokenTrades>();
  firstTimestamp = 0;
  lastTimestamp = 0;

  add(row: FoldRow): void {
    if (row.kind !== "trade") return;
    const { timestamp, tokenId, role } = row;
    addTrade(role === "maker" ? this.maker : this.taker, row);
    const token = this.byToken.get(tokenId) ?? { ...emptySums(), lastTimestamp: timestamp };
    this.byToken.set(tokenId, token);
    addTrade(token, row);
    token.lastTimestamp = timestamp;
    this.firstTimestamp ||= timestamp;
    this.lastTimestamp = timestamp;
  }
}

/** What happened in one bucket of time. */
export type PnlBucket = TradeSums & { readonly bucket: number; realized: bigint };

/** Profit and trades by buckets of time. Weeks begin on Monday. */
export class PnlSeries {
  readonly #bucketSeconds: number;
  readonly #buckets = new Map<number, PnlBucket>();

  constructor(bucketSeconds: number) {
    this.#bucketSeconds = bucketSeconds;
  }

  add(row: FoldRow): void {
    if (row.kind === "trade") addTrade(this.#get(row.timestamp), row);
  }

  addRealized(amount: bigint, timestamp: number): void {
    this.#get(timestamp).realized += amount;
  }

  /** Returns the buckets in which something happened, the oldest first. */
  finish(): readonly PnlBucket[] {
    return [...this.#buckets.values()].toSorted((a, b) => a.bucket - b.bucket);
  }

  #get(timestamp: number): PnlBucket {
    const offset = (timestamp - firstMonday) % this.#bucketSeconds;
    const bucket = timestamp - (offset < 0 ? offset + this.#bucketSeconds : offset);
    const found = this.#buckets.get(bucket) ?? { bucket, realized: 0n, ...emptySums() };
    this.#buckets.set(bucket, found);
    return found;
  }
}

/** 1970-01-05. It is the start of an hour and a day, too. */
const firstMonday = 4 * 86_400;

function addTrade(sums: TradeSums, { cash, fee }: FoldRow): void {
  sums.trades += 1;
  sums.volume += cash < 0n ? -cash : cash;
  sums.fees += fee;
}

function emptySums(): TradeSums {
  return { trades: 0, volume: 0n, fees: 0n };
}
