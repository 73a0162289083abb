import type { Address, Hash } from "../base/ids.ts";
import type { Generation } from "../contracts/contracts.ts";
import { type Fill, getSettledCash, isTrade } from "./fill.ts";
import { toHour } from "./minute-candle.ts";

/** The sums of the fills of one generation, or of one builder code, in one hour. Amounts are micros. */
export type HourTotals = {
  /** The start of the hour, in Unix seconds. */
  readonly hour: number;
  readonly generation: Generation;
  /** Only the orders with this code; `null` for all orders. Trades are those of the makers' orders. */
  readonly builder: Hash | null;
  readonly trades: number;
  readonly volumeUsd: bigint;
  /** What owners of orders paid, without refunds. Fees in shares count at the price that was paid. */
  readonly feesUsd: bigint;
  /** The marks of the makers and takers of the trades, each once; empty for a builder code. */
  readonly walletMarks: readonly number[];
};

/** The registers of a count of distinct wallets (HyperLogLog): its standard error is 1.6 %. */
export const walletRegisters = 4096;

/** Returns the mark of a wallet: its register and the rank in it, from 1 to 33. Addresses are hashes already. */
function toWalletMark(wallet: Address): number {
  const register = Number.parseInt(wallet.slice(2, 5), 16);
  return toMark(register, Number.parseInt(wallet.slice(5, 13), 16));
}

/** Returns the mark of a register and of the 32 bits that follow the register in an address. */
export function toMark(register: number, bits: number): number {
  return register * 64 + Math.clz32(bits) + 1;
}

/** Splits a mark into its register and its rank. */
export function fromMark(mark: number): { readonly register: number; readonly rank: number } {
  return { register: Math.floor(mark / 64), rank: mark % 64 };
}

/** Estimates how many wallets were marked, from the highest rank of each register; 0 for none. */
export function estimateWallets(ranks: ArrayLike<number>): number {
  const count = walletRegisters;
  let [sum, empty] = [0, 0];
  for (let register = 0; register < count; register += 1) {
    const rank = ranks[register] ?? 0;
    sum += 2 ** -rank;
    if (rank === 0) empty += 1;
  }
  const estimate = ((0.7213 / (1 + 1.079 / count)) * count ** 2) / sum;
  const isSmall = estimate <= 2.5 * count && empty > 0;
  return Math.round(isSmall ? count * Math.log(count / empty) : estimate);
}

/** Sums fills by hour and generation, and by hour and builder code. */
export function sumHours(fills: readonly Fill[]): readonly HourTotals[] {
  const sums = new HourSums();
  for (const fill of fills) {
    const { generation } = fill.exchange;
    const hour = toHour(fill.timestamp);
    sums.add(fill, sums.open(hour, generation, null));
    if (fill.builder !== null) sums.add(fill, sums.open(hour, generation, fill.builder));
  }
  return sums.values();
}

/** Adds up the totals of the same hour, generation and builder code. */
export function mergeHours(parts: readonly HourTotals[]): readonly HourTotals[] {
  const sums = new HourSums();
  for (const part of parts) {
    const sum = sums.open(part.hour, part.generation, part.builder);
    sum.trades += part.trades;
    sum.volumeUsd += part.volumeUsd;
    sum.feesUsd += part.feesUsd;
    for (const mark of part.walletMarks) sum.walletMarks.add(mark);
  }
  return sums.values();
}

type HourSum = Pick<HourTotals, "hour" | "generation" | "builder"> & {
  trades: number;
  volumeUsd: bigint;
  feesUsd: bigint;
  readonly walletMarks: Set<number>;
};

class HourSums {
  readonly #sums = new Map<number | string, HourSum>();

  open(hour: number, generation: Generation, builder: Hash | null): HourSum {
    const key = builder === null ? hour * 4 + generation : `${hour} ${generation} ${builder}`;
    const existing = this.#sums.get(key);
    if (existing !== undefined) return existing;
    const none = { trades: 0, volumeUsd: 0n, feesUsd: 0n, walletMarks: new Set<number>() };
    const sum = { hour, generation, builder, ...none };
    this.#sums.set(key, sum);
    return sum;
  }

  add(fill: Fill, sum: HourSum): void {
    sum.feesUsd += getFeeUsd(fill);
    if (!isTrade(fill)) return;
    sum.trades += 1;
    sum.volumeUsd += fill.value;
    if (sum.builder !== null) return;
    sum.walletMarks.add(toWalletMark(fill.maker));
    sum.walletMarks.add(toWalletMark(fill.taker));
  }

  values(): readonly HourTotals[] {
    const sums = [...this.#sums.values()];
    return sums.map((sum) => ({ ...sum, walletMarks: [...sum.walletMarks] }));
  }
}

function getFeeUsd(fill: Fill): bigint {
  const fee = fill.fee - fill.feeRefund;
  // Generation 1 charges its fee in what the order receives: in shares when it buys.
  const isInShares = fill.exchange.generation === 1 && fill.makerSide === "BUY";
  if (!isInShares || fee === 0n) return fee;
  // `size` is what a BUY received: the sum of the legs for a taker.
  return fill.size === 0n ? 0n : (fee * getSettledCash(fill)) / fill.size;
}
