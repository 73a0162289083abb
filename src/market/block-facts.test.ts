import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { anyChain } from "../../test/support/generate-chain.ts";
import { BlockWriter, type MatchPlan, traders } from "../../test/support/generate-matches.ts";
import { propertySettings } from "../../test/support/property-settings.ts";
import { knownContracts } from "../../test/support/recorded-chain.ts";
import { encodeLog, getExchange, otherLogs, testPairs } from "../../test/support/test-markets.ts";
import type { Address, Hash } from "../base/ids.ts";
import { toSeq } from "../base/ids.ts";
import type { Block } from "../chain/raw-log.ts";
import { LogDecoder } from "../contracts/log-decoder.ts";
import { deriveBlockFacts } from "./block-facts.ts";

const decoder = new LogDecoder(knownContracts());
const anyBlock = anyChain({ blocksMin: 1, blocksMax: 3 }).map((chain) => chain.at(-1)?.block);

function hash(digit: string): Hash {
  return `0x${digit.repeat(64)}` as Hash;
}

function emptyBlock(): BlockWriter {
  return new BlockWriter({ number: 5, hash: hash("b"), parentHash: hash("a"), timestamp: 1000 });
}

describe("the facts of a block", () => {
  test("are the planned fills of a random chain, and every other log at most once", () => {
    fc.assert(
      fc.property(anyChain({ blocksMin: 1, blocksMax: 5 }), (chain) => {
        for (const { block, fills } of chain) {
          const facts = deriveBlockFacts(block, decoder);
          assert.deepEqual(facts.fills, fills);
          const { number, hash, timestamp } = block;
          assert.deepEqual([facts.number, facts.hash, facts.timestamp], [number, hash, timestamp]);
          const seqs = [...facts.fills, ...facts.events, ...facts.quarantined].map(
            ({ seq }) => seq,
          );
          assert.equal(new Set(seqs).size, seqs.length);
          for (const rows of [facts.fills, facts.events, facts.quarantined]) {
            assert.deepEqual(
              rows,
              rows.toSorted((a, b) => a.seq - b.seq),
            );
          }
        }
      }),
      propertySettings(200),
    );
  });

  test("do not depend on the order in which its logs arrived", () => {
    fc.assert(
      fc.property(anyBlock, fc.infiniteStream(fc.nat()), (block, keys) => {
        assert(block !== undefined);
        const arrived = shuffle(block.logs, keys);
        const logs = arrived.toSorted((a, b) => a.logIndex - b.logIndex);
        assert.deepEqual(
          deriveBlockFacts({ ...block, logs }, decoder),
          deriveBlockFacts(block, decoder),
        );
      }),
      propertySettings(100),
    );
  });

  test("are the facts of its transactions, each derived on its own", () => {
    fc.assert(
      fc.property(anyBlock, (block) => {
        assert(block !== undefined);
        const transactions = Map.groupBy(block.logs, (log) => log.txHash);
        const parts = [...transactions.values()].map((logs) =>
          deriveBlockFacts({ ...block, logs }, decoder),
        );
        const whole = deriveBlockFacts(block, decoder);
        for (const field of ["fills", "events", "quarantined", "anomalies"] as const) {
          assert.deepEqual(
            parts.flatMap((part): readonly unknown[] => part[field]),
            whole[field],
          );
        }
      }),
      propertySettings(200),
    );
  });
});

function shuffle<Item>(items: readonly Item[], keys: fc.Stream<number>): Item[] {
  const keyed = items.map((item) => ({ item, key: keys.next().value as number }));
  return keyed.toSorted((a, b) => a.key - b.key).map(({ item }) => item);
}

describe("logs that are not fills", () => {
  test("a decoded event is kept with its position", () => {
    const writer = emptyBlock();
    const cancelled = encodeLog(getExchange(1, "standard"), "OrderCancelled", {
      orderHash: hash("7"),
    });
    writer.addLog(cancelled);
    const [log] = writer.block.logs;
    assert.deepEqual(deriveBlockFacts(writer.block, decoder).events, [
      {
        seq: toSeq(5, 0),
        timestamp: 1000,
        blockHash: hash("b"),
        txHash: log?.txHash,
        address: cancelled.address,
        event: { kind: "order_cancelled", orderHash: hash("7") },
      },
    ]);
  });

  test("an undecodable log is quarantined with all its fields, and the rest of the block is kept", () => {
    const writer = emptyBlock();
    for (const log of otherLogs) writer.addLog(log);
    const facts = deriveBlockFacts(writer.block, decoder);
    const [quarantined, ...more] = facts.quarantined;
    assert(quarantined !== undefined && more.length === 0);
    assert.match(quarantined.reason, /outcome slot count/);
    assert.deepEqual(quarantined.log, writer.block.logs.at(-1));
    assert.deepEqual(
      facts.anomalies.map(({ kind }) => kind),
      ["refund_without_fill"],
    );
    assert.equal(facts.events.length, 6);
  });

  test("logs of unknown contracts are ignored", () => {
    const writer = emptyBlock();
    const address = `0x${"99".repeat(20)}` as Address;
    for (const log of otherLogs) writer.addLog({ ...log, address });
    const { fills, events, quarantined, anomalies } = deriveBlockFacts(writer.block, decoder);
    assert.deepEqual([fills, events, quarantined, anomalies], [[], [], [], []]);
  });
});

describe("amounts", () => {
  function blockWith(shares: bigint, cash: bigint): Block {
    const [maker, taker] = traders as [Address, Address];
    const [[token, otherToken]] = testPairs.legacy as [readonly [never, never]];
    const leg = { maker, orderHash: hash("1"), isOtherToken: false, shares, cash, fee: 0n };
    const exchange = getExchange(2, "standard");
    assert(exchange.kind === "exchange");
    const match: MatchPlan = {
      kind: "match",
      exchange,
      feeModule: null,
      taker,
      orderHash: hash("9"),
      side: "BUY",
      token,
      otherToken,
      legs: [leg],
      fee: 0n,
      surplus: 0n,
      builder: hash("0"),
    };
    const writer = emptyBlock();
    writer.addTransaction({ gap: 0, items: [match] });
    return writer.block;
  }

  test("above 2^53 are exact", () => {
    const [leg] = deriveBlockFacts(blockWith(2n ** 80n + 1n, 2n ** 79n + 1n), decoder).fills;
    assert.deepEqual([leg?.size, leg?.value], [2n ** 80n + 1n, 2n ** 79n + 1n]);
  });

  test("that are too large to sum in storage are quarantined", () => {
    for (const [shares, cash] of [
      [2n ** 255n, 1n],
      [1n, 10n ** 30n + 1n],
    ] as const) {
      const facts = deriveBlockFacts(blockWith(shares, cash), decoder);
      assert.deepEqual(facts.fills, []);
      assert.equal(facts.quarantined.length, 2);
      assert.match(facts.quarantined[0]?.reason ?? "", /an amount is above/);
    }
  });
});
