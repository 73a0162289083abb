import { type Address, type Hash, type Seq, toSeq } from "../base/ids.ts";
import { plainLog } from "../chain/parse/scanned-log.ts";
import { type Block, type RawLog, type TimedBlock, toTimedBlock } from "../chain/raw-log.ts";
import type { Contracts } from "../contracts/contracts.ts";
import {
  type ChainEvent,
  isStoredEvent,
  type OracleStep,
  type StoredEvent,
} from "../contracts/events.ts";
import type { DecodedLog, LogDecoder } from "../contracts/log-decoder.ts";
import { deriveFills, type MatchAnomaly } from "./derive-fills.ts";
import type { Fill } from "./fill.ts";
import { getSupplyAccounts } from "./ledger/collateral.ts";
import { deriveLedger } from "./ledger/derive-ledger.ts";
import type { BalanceChange, LedgerRow } from "./ledger/ledger-row.ts";
import { isForeign } from "./ledger/position-changes.ts";

/** An event that is not a fill, with its position on the chain. */
export type LocatedEvent = {
  readonly seq: Seq;
  readonly timestamp: number;
  readonly blockHash: Hash;
  readonly txHash: Hash;
  readonly address: Address;
  readonly event: StoredEvent;
};

/** A log of a configured contract that cannot be decoded. It is stored as it is (`docs/counting.md`, rule 7). */
export type QuarantinedLog = {
  readonly seq: Seq;
  readonly timestamp: number;
  readonly reason: string;
  readonly log: RawLog;
};

/** All facts of one block: a pure function of its logs. */
export type BlockFacts = TimedBlock & {
  readonly fills: readonly Fill[];
  readonly events: readonly LocatedEvent[];
  readonly quarantined: readonly QuarantinedLog[];
  readonly anomalies: readonly MatchAnomaly[];
  /** This and the next two are empty without wallets. */
  readonly ledger: readonly LedgerRow[];
  readonly balances: readonly BalanceChange[];
  /** The balances among them that decide supplies and collateral (`collateral.ts`). */
  readonly supplies: readonly BalanceChange[];
};

/** The facts of a block without any. */
export const emptyBlock: Omit<BlockFacts, keyof TimedBlock> = {
  fills: [],
  events: [],
  quarantined: [],
  anomalies: [],
  ledger: [],
  balances: [],
  supplies: [],
};

/**
 * The largest amount of collateral or of an order, in micros: 10^24 dollars, far more than all money. The store keeps 38
 * digits. They fit the price of one millionth of a share at this amount, and the sum of a hundred million such amounts.
 */
const amountMax = 10n ** 30n;

/** Derives the facts of a block from its raw logs, which must be in rising order of log index. */
export function deriveBlockFacts(block: Block, decoder: LogDecoder): BlockFacts {
  const fills: Fill[] = [];
  const anomalies: MatchAnomaly[] = [];
  const events: LocatedEvent[] = [];
  const quarantined: QuarantinedLog[] = [];
  const ledger: LedgerRow[] = [];
  const balances: BalanceChange[] = [];
  let transaction: DecodedLog[] = [];
  const { timestamp } = block;
  const { contracts } = decoder;
  const closeTransaction = (): void => {
    if (transaction.length === 0) return;
    const derived = deriveFills(transaction, timestamp);
    fills.push(...derived.fills);
    anomalies.push(...derived.anomalies);
    if (contracts.wallets) {
      const derivedLedger = deriveLedger(transaction, derived.fills, { contracts, timestamp });
      for (const row of derivedLedger.rows) ledger.push(row);
      for (const change of derivedLedger.balances) balances.push(change);
      if (derivedLedger.difference !== null) {
        anomalies.push({ seq: derivedLedger.difference, kind: "ledger_differs_from_transfers" });
      }
    }
    transaction = [];
  };
  for (const log of block.logs) {
    const decoded = decoder.decode(log);
    if (decoded === null) continue;
    const { event } = decoded;
    const reason = getQuarantineReason(event, contracts);
    if (reason !== null)
      quarantined.push({ ...locate(log, block.timestamp), reason, log: plainLog(log) });
    else if (isStoredEvent(event)) {
      if (event.kind === "oracle_step" && !isOfMarket(event, contracts)) continue;
      const { blockHash, txHash, address } = log;
      events.push({ ...locate(log, block.timestamp), blockHash, txHash, address, event });
    } else {
      if (transaction[0]?.log.txHash !== log.txHash) closeTransaction();
      transaction.push(decoded);
    }
  }
  closeTransaction();
  const accounts = balances.length === 0 ? null : getSupplyAccounts(contracts);
  const supplies = balances.filter(({ wallet }) => accounts?.has(wallet));
  const derived = { fills, events, quarantined, anomalies, ledger, balances, supplies };
  return { ...toTimedBlock(block), ...derived };
}

/** Whether a step is about a market: many other protocols ask the same oracle. */
function isOfMarket({ requester }: OracleStep, { byAddress }: Contracts): boolean {
  return requester === null || byAddress.get(requester)?.kind === "uma_adapter";
}

function getQuarantineReason(event: ChainEvent, contracts: Contracts): string | null {
  if (event.kind === "undecodable") return event.reason;
  return getAmounts(event, contracts).some((amount) => amount > amountMax || amount < -amountMax)
    ? "an amount is above 10^30"
    : null;
}

/** Returns the amounts of collateral in an event. Of other collateral than ours there can be any amount. */
function getAmounts(event: ChainEvent, contracts: Contracts): readonly bigint[] {
  if (event.kind === "order_filled") return [event.makerAmount, event.takerAmount, event.fee];
  return event.kind === "positions_changed" && !isForeign(event, contracts) ? [event.cash] : [];
}

function locate(log: RawLog, timestamp: number): { seq: Seq; timestamp: number } {
  return { seq: toSeq(log.blockNumber, log.logIndex), timestamp };
}
