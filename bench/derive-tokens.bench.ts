/**
 * Token ids of conditions, derived once for every prepared market: markets per second on one core. The baseline in the
 * same run is the textbook way to find the point of a collection (Euler's criterion with big integers). Arguments:
 * markets per round (default 2000), rounds (default 5).
 */
import assert from "node:assert/strict";
import { availableParallelism, cpus } from "node:os";
import type { Address, ConditionId } from "../src/base/ids.ts";
import { deriveTokenIds, fieldPrime } from "../src/market/ids/condition-ids.ts";
import { keccakOfPacked, toWord } from "../src/market/ids/keccak.ts";
import { median } from "./median.ts";

const markets = Number(process.argv[2] ?? 2000);
const rounds = Number(process.argv[3] ?? 5);
const marketsOfTheVenue = 1_500_000;
const collateral = "0x2791bca1f2de4661ed88a30c99a7a9449aa84174" as Address;

const { model = "unknown" } = cpus()[0] ?? {};
console.log(`${model}, ${availableParallelism()} cores, node ${process.version}`);

const ours: number[] = [];
const textbook: number[] = [];
for (let round = 0; round < rounds; round += 1) {
  const first = round * markets;
  ours.push(toRate(markets, (index) => deriveTokenIds(getConditionId(first + index), collateral)));
  const fewer = Math.ceil(markets / 20);
  textbook.push(toRate(fewer, (index) => deriveTokenIdsByEuler(getConditionId(first + index))));
}
const sample = getConditionId(7);
assert.deepEqual(deriveTokenIds(sample, collateral), deriveTokenIdsByEuler(sample));

const [rate, baseline] = [median(ours), median(textbook)];
console.log(`${format(rate)} markets/s (2 tokens each), textbook ${format(baseline)} markets/s`);
console.log(
  `ratio ${(rate / baseline).toFixed(1)}; 2,000 markets a day cost ${(2000 / rate).toFixed(2)} s, ` +
    `${format(marketsOfTheVenue)} markets ${(marketsOfTheVenue / rate).toFixed(0)} s`,
);

function toRate(count: number, derive: (index: number) => unknown): number {
  const startedAt = performance.now();
  for (let index = 0; index < count; index += 1) derive(index);
  return count / ((performance.now() - startedAt) / 1000);
}

function getConditionId(index: number): ConditionId {
  return keccakOfPacked(toWord(index)) as string as ConditionId;
}

function deriveTokenIdsByEuler(conditionId: ConditionId): string[] {
  return [1, 2].map((indexSet) => {
    const hash = BigInt(keccakOfPacked(conditionId, toWord(indexSet)));
    let x = hash % fieldPrime;
    for (;;) {
      x = (x + 1n) % fieldPrime;
      const square = (x * x * x + 3n) % fieldPrime;
      const root = power(square, (fieldPrime + 1n) / 4n);
      if ((root * root) % fieldPrime === square) break;
    }
    const collectionId = hash >> 255n === 1n ? x ^ (1n << 254n) : x;
    return keccakOfPacked(collateral, toWord(collectionId));
  });
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * square) % fieldPrime;
    square = (square * square) % fieldPrime;
  }
  return result;
}

function format(value: number): string {
  return Math.round(value).toLocaleString("en");
}
