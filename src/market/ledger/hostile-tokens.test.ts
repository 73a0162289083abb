/** Anyone can mint tokens of any collateral at ConditionalTokens, and send any amount of them to anyone. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { knownContracts } from "../../../test/support/recorded-chain.ts";
import { encodeLog, type LogContent } from "../../../test/support/test-markets.ts";
import { type Address, type Hash, type TokenId, toLastSeq, toTokenId } from "../../base/ids.ts";
import type { Block } from "../../chain/raw-log.ts";
import type { Contract } from "../../contracts/contracts.ts";
import { LogDecoder } from "../../contracts/log-decoder.ts";
import { encodeLedger } from "../../storage/codec/encode-facts.ts";
import { decodeLedger } from "../../storage/codec/ledger-layout.ts";
import { type BlockFacts, deriveBlockFacts } from "../block-facts.ts";
import { getCauseKey } from "./activity.ts";
import { getShares, zeroAddress } from "./ledger-row.ts";
import { type Position, PositionFold } from "./position.ts";
import { isPassThrough } from "./token-flow.ts";

const contracts = knownContracts();
const decoder = new LogDecoder(contracts);
const getContract = (kind: Contract["kind"]): Contract => {
  const found = [...contracts.byAddress.values()].find((one) => one.kind === kind);
  assert(found !== undefined);
  return found;
};
const tokens = getContract("conditional_tokens");
const toAddress = (digits: string) => `0x${digits.repeat(20)}` as Address;
const [attacker, victim, foreign] = [toAddress("a1"), toAddress("b2"), toAddress("f0")];
const zeroWord = `0x${"0".repeat(64)}`;
const conditionId = `0x${"c0".repeat(32)}`;
const max = 2n ** 256n - 1n;

function transfer(from: Address, to: Address, entries: readonly (readonly [bigint, bigint])[]) {
  const [ids, values] = [entries.map(([id]) => id), entries.map(([, value]) => value)];
  return encodeLog(tokens, "TransferBatch", { operator: from, from, to, ids, values });
}

function split(amount: bigint, collateral = foreign): LogContent {
  const basis = { collateral, collateralToken: collateral, conditionId };
  return encodeLog(tokens, "PositionSplit", {
    ...basis,
    account: attacker,
    parent: zeroWord,
    sets: [1n, 2n],
    amount,
  });
}

/** Derives a block, each list of logs one transaction. */
function derive(transactions: readonly (readonly LogContent[])[], number = 1): BlockFacts {
  const hash = `0x${String(number).padStart(64, "e")}` as Hash;
  const located = transactions.flatMap((logs, txIndex) => logs.map((log) => ({ log, txIndex })));
  const logs = located.map(({ log, txIndex }, logIndex) => ({
    ...log,
    blockNumber: number,
    blockHash: hash,
    txHash: `0x${String(txIndex).padStart(64, "7")}` as Hash,
    txIndex,
    logIndex,
  }));
  const block: Block = { number, hash, parentHash: null, timestamp: 1_700_000_000, logs };
  return deriveBlockFacts(block, decoder);
}

function fold(facts: readonly BlockFacts[], wallet: Address): readonly Position[] {
  const positions = new PositionFold({ getSettlement: () => null, getFeeBips: () => 0n });
  const rows = facts.flatMap(({ ledger }) => ledger.filter((row) => row.wallet === wallet));
  // As the store returns them.
  for (const row of decodeLedger(encodeLedger(rows))) positions.add(row);
  return [...positions.finish(toLastSeq(9))];
}

describe("amounts up to 2^256 - 1", () => {
  for (const amount of [1n, 2n ** 128n, 2n ** 255n - 1n, 2n ** 255n, max]) {
    test(`${amount} of foreign tokens`, () => {
      const pair = [
        [1n, amount],
        [2n, amount],
      ] as const;
      const sent = derive([[transfer(zeroAddress, attacker, pair), split(amount)]], 1);
      const received = derive([[transfer(attacker, victim, pair)]], 2);
      const returned = derive([[transfer(victim, attacker, pair)]], 3);
      const shares = (facts: readonly BlockFacts[], wallet: Address) =>
        fold(facts, wallet).map((position) => [position.shares, position.known]);
      const [all, none] = [amount, 0n].map((held) => [
        [held, 0n],
        [held, 0n],
      ]);
      assert.deepEqual(shares([sent], attacker), all);
      assert.deepEqual(shares([sent, received], attacker), none);
      assert.deepEqual(shares([received], victim), all);
      assert.deepEqual(shares([received, returned], victim), none);
      assert.deepEqual(shares([sent, received, returned], attacker), all);
      const rows = [sent, received, returned].flatMap(({ ledger }) => ledger);
      assert.deepEqual(decodeLedger(encodeLedger(rows)), rows);
      assert.deepEqual(
        [...sent.ledger, ...received.ledger].map(getShares),
        [amount, amount, -amount, -amount, amount, amount],
        "every row has its own sign",
      );
      assert.deepEqual(
        [sent, received, returned].flatMap(({ quarantined, anomalies }) => [
          ...quarantined,
          ...anomalies,
        ]),
        [],
      );
    });
  }

  test("of our own collateral are quarantined", () => {
    const { quarantined, ledger } = derive([[split(10n ** 30n + 1n, contracts.collateral)]]);
    assert.deepEqual(
      quarantined.map(({ reason }) => reason),
      ["an amount is above 10^30"],
    );
    assert.deepEqual(ledger, []);
  });
});

test("a batch of 10,000 with duplicates and zeros, sent back and forth, has one row for each token and side", () => {
  const ids = Array.from({ length: 10_000 }, (_, index) => BigInt(index % 9000));
  const entries = ids.map((id, index) => [id, BigInt(index % 7)] as const);
  const log = transfer(attacker, victim, entries);
  const back = transfer(victim, attacker, entries);
  const expected = new Map<TokenId, bigint>();
  for (const [id, amount] of entries) {
    expected.set(toTokenId(id), (expected.get(toTokenId(id)) ?? 0n) + amount);
  }
  for (const [token, amount] of expected) if (amount === 0n) expected.delete(token);
  // More rows than a call can have arguments.
  const facts = derive([Array.from({ length: 9 }, (_, index) => (index % 2 === 0 ? log : back))]);
  assert.equal(facts.ledger.length, 9 * 2 * expected.size);
  assert.equal(facts.balances.length, 2 * expected.size);
  const held = fold([facts], victim).filter(({ shares }) => shares !== 0n);
  assert.deepEqual(new Map(held.map(({ tokenId, shares }) => [tokenId, shares])), expected);
  assert.deepEqual([facts.quarantined, facts.anomalies], [[], []]);
});

test("a batch is one transfer of all its tokens, also if no event says why it was minted or destroyed", () => {
  const entries = [1n, 2n, 3n].map((id) => [id, 5n] as const);
  const [adapter, sink] = [getContract("neg_risk_adapter"), getContract("burn_address")];
  const [ids, values] = [entries.map(([id]) => id), entries.map(([, value]) => value)];
  const destroyed = encodeLog(tokens, "TransferBatch", {
    operator: adapter.address,
    from: victim,
    to: sink.address,
    ids,
    values,
  });
  const { ledger } = derive([
    [transfer(zeroAddress, victim, entries)],
    [transfer(victim, attacker, entries)],
    [destroyed],
    [transfer(attacker, zeroAddress, entries)],
  ]);
  const causes = Map.groupBy(ledger, getCauseKey);
  assert.deepEqual(
    [...causes.values()].map(([first, ...others]) => [first?.wallet, first?.kind, others.length]),
    [
      [victim, "transfer_in", 2],
      [victim, "transfer_out", 2],
      [attacker, "transfer_in", 2],
      [victim, "transfer_out", 2],
      [sink.address, "transfer_in", 2],
      [attacker, "transfer_out", 2],
    ],
  );
});

test("logs without one amount for each token, cut off or out of bounds are quarantined, and the others are derived", () => {
  const whole = transfer(attacker, victim, [[1n, 5n]]);
  const words: readonly string[] = whole.data.slice(2).match(/.{64}/g) ?? [];
  const ones = "f".repeat(64);
  const withWord = (index: number, word: string): LogContent => ({
    ...whole,
    data: `0x${words.with(index, word).join("")}`,
  });
  const wrong = [
    withWord(2, zeroWord.slice(2)),
    withWord(0, ones),
    withWord(1, ones),
    withWord(4, ones),
    { ...whole, data: `0x${words.slice(0, -1).join("")}` },
    { ...whole, data: whole.data.slice(0, -2) },
    { ...whole, topics: whole.topics.slice(0, 3) },
  ];
  const facts = derive([[...wrong, whole]]);
  assert.equal(facts.quarantined.length, wrong.length);
  assert(facts.quarantined.every(({ reason }) => reason.length > 10));
  assert.deepEqual(
    facts.ledger.map(({ wallet, shares }) => [wallet, shares]),
    [
      [attacker, -5n],
      [victim, 5n],
    ],
  );
});

test("transfers to the sender itself and of zero have no rows", () => {
  const { ledger, balances } = derive([
    [transfer(attacker, attacker, [[1n, 5n]]), transfer(attacker, victim, [[1n, 0n]])],
    [transfer(attacker, victim, [])],
  ]);
  assert.deepEqual([ledger, balances], [[], []]);
});

test("whatever is logged in whichever order, rows add up to the transfers", () => {
  const contractsOfAll = [...contracts.byAddress.values()].map(({ address }) => address);
  const account = fc.oneof(
    fc.constantFrom(attacker, victim, zeroAddress),
    fc.constantFrom(...contractsOfAll),
  );
  const amount = fc.constantFrom(0n, 1n, 7n, 10n ** 12n, 2n ** 255n, max);
  const entry = fc.tuple(fc.constantFrom(1n, 2n, 3n), amount);
  const moved = fc
    .record({
      operator: account,
      from: account,
      to: account,
      entries: fc.array(entry, { maxLength: 4 }),
    })
    .map(({ entries, ...parties }) => {
      const [ids, values] = [entries.map(([id]) => id), entries.map(([, value]) => value)];
      return {
        ...encodeLog(tokens, "TransferBatch", { ...parties, ids, values }),
        ...parties,
        entries,
      };
    });
  const changed = fc.oneof(
    fc.tuple(amount, fc.constantFrom(foreign, contracts.collateral)).map((args) => split(...args)),
    fc.tuple(account, amount).map(([user, value]) =>
      encodeLog(getContract("neg_risk_adapter"), "PositionsConverted", {
        account: user,
        stakeholder: user,
        marketId: conditionId,
        indexSet: 3n,
        amount: value,
      }),
    ),
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(moved, moved, changed), { maxLength: 12 }), (logs) => {
      const facts = derive([logs.map(({ address, topics, data }) => ({ address, topics, data }))]);
      const expected = new Map<string, bigint>();
      const add = (wallet: Address, id: bigint, value: bigint) => {
        if (wallet === zeroAddress || isPassThrough(contracts, wallet)) return;
        const key = `${wallet} ${toTokenId(id)}`;
        expected.set(key, BigInt.asUintN(256, (expected.get(key) ?? 0n) + value));
      };
      for (const log of logs) {
        if (!("entries" in log)) continue;
        for (const [id, value] of log.entries) {
          add(log.from, id, -value);
          add(log.to, id, value);
        }
      }
      const found = new Map<string, bigint>();
      for (const { wallet, tokenId, shares } of facts.ledger) {
        const key = `${wallet} ${tokenId}`;
        found.set(key, BigInt.asUintN(256, (found.get(key) ?? 0n) + shares));
      }
      const present = (sums: Map<string, bigint>) =>
        new Map([...sums].filter(([, sum]) => sum !== 0n));
      assert.deepEqual(present(found), present(expected));
      assert.deepEqual(decodeLedger(encodeLedger(facts.ledger)), facts.ledger);
    }),
    propertySettings(500),
  );
});
