/** What was traded later, taken over as columns, against totals that are added up trade by trade. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { priceMicros } from "../../base/decimal.ts";
import { type Hash, type Seq, type TokenId, tokenIdOf } from "../../base/ids.ts";
import type { TokenTotals } from "../../market/market.ts";
import { minuteOf } from "../../market/minute-candle.ts";
import { MemoryStateStore } from "../disk/state-store.ts";
import { addTotals, noTotals } from "../markets/token-totals.ts";
import { CatchUpTrades } from "./catch-up-trades.ts";
import { TokenSlots } from "./token-slots.ts";
import type { StoredTrades } from "./trade-queue.ts";

const tokens = 600;
const anyAmount = fc.oneof(fc.constant(0n), fc.bigInt(0n, 10n ** 9n), fc.bigInt(0n, 2n ** 90n));
const anyTrade = fc.record({
  token: fc.nat(tokens - 1),
  seconds: fc.nat(90),
  size: anyAmount,
  value: anyAmount,
  generation: fc.integer({ min: 1, max: 3 }),
});
type Trade = Omit<typeof anyTrade extends fc.Arbitrary<infer Value> ? Value : never, "seconds"> & {
  readonly seq: Seq;
  readonly timestamp: number;
};

function idOf(token: number): TokenId {
  return tokenIdOf((BigInt(token) << 200n) + 7n);
}

function columnsOf(trades: readonly Trade[]): StoredTrades {
  const numbers = (amountOf: (trade: Trade) => bigint) =>
    Float64Array.from(trades, (trade) => {
      const isSafe = [trade.size, trade.value].every((amount) => amount < 2n ** 53n);
      return isSafe ? Number(amountOf(trade)) : Number.NaN;
    });
  return {
    length: trades.length,
    seqs: Float64Array.from(trades, ({ seq }) => seq),
    timestamps: Uint32Array.from(trades, ({ timestamp }) => timestamp),
    sizes: numbers(({ size }) => size),
    values: numbers(({ value }) => value),
    buys: new Uint8Array(trades.length),
    generations: Uint8Array.from(trades, ({ generation }) => generation),
    tokenIds: new Uint32Array(0),
    exactAt: (index) => trades[index] ?? { size: 0n, value: 0n },
    txHashes: Uint32Array.from(trades.flatMap(({ seq }) => Array(8).fill(seq))),
  };
}

function totalsOf({ seq, timestamp, size, value, generation }: Trade): TokenTotals {
  const price = priceMicros(value, size);
  const words = Buffer.from(new Uint32Array(8).fill(seq).buffer);
  const txHash = `0x${words.toString("hex")}` as Hash;
  return {
    trades: 1,
    volumeUsd: value,
    volumeShares: size,
    lastTrade: price === null ? null : { seq, price, timestamp, side: "SELL", size, value, txHash },
    firstTimestamp: timestamp,
    lastTimestamp: timestamp,
    firstMinute: price === null ? null : minuteOf(timestamp),
    generations: 1 << (generation - 1),
  };
}

test("totals with what was traded later are those of all trades", () => {
  const anyPages = fc.array(fc.array(anyTrade, { maxLength: 600, size: "max" }), { maxLength: 4 });
  fc.assert(
    fc.property(anyPages, fc.nat(1200), (pages, from) => {
      const slots = new TokenSlots(new MemoryStateStore(), "test");
      const shown: TokenId[] = [];
      const later = new CatchUpTrades(from as Seq, (tokenId) => shown.push(tokenId));
      const [before, all] = [new Map<number, TokenTotals>(), new Map<number, TokenTotals>()];
      let [seq, timestamp] = [0, 1_700_000_000];
      for (const page of pages) {
        const trades = page.map(({ seconds, ...trade }): Trade => {
          seq += 1;
          timestamp += seconds;
          return { ...trade, seq: seq as Seq, timestamp };
        });
        const slotOf = ({ token }: Trade) => {
          const slot = slots.find(idOf(token));
          return slot === -1 ? slots.add(idOf(token)) : slot;
        };
        later.add(columnsOf(trades), Int32Array.from(trades, slotOf));
        for (const trade of trades) {
          for (const sums of trade.seq < from ? [before, all] : [all]) {
            sums.set(trade.token, addTotals(sums.get(trade.token) ?? noTotals, totalsOf(trade)));
          }
        }
      }
      later.end(slots);
      // Anyone who has the slots from now on.
      for (let slot = 0; slot < slots.length; slot += 1) slots.remove(slot);
      const changed: TokenId[] = [];
      for (let token = 0; token < tokens; token += 1) {
        const tokenId = idOf(token);
        const slot = later.find(tokenId);
        const known = before.get(token);
        if (slot === -1) {
          assert.deepEqual(known, all.get(token));
          continue;
        }
        assert.equal(later.keyAt(slot), tokenId);
        assert.deepEqual(later.change(slot, tokenId, known), all.get(token));
        changed.push(tokenId);
      }
      assert.deepEqual(shown, changed);
    }),
    propertySettings(50),
  );
});
