/** How fills are grouped and joined, with transactions written by hand, also invalid ones. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { traders } from "../../test/support/generate-matches.ts";
import { knownContracts } from "../../test/support/recorded-chain.ts";
import { getExchange, testMarkets } from "../../test/support/test-markets.ts";
import type { Address, Hash, Seq, TokenId } from "../base/ids.ts";
import type { Contract } from "../contracts/contracts.ts";
import type { ChainEvent, OrderFilled } from "../contracts/events.ts";
import { deriveFills } from "./derive-fills.ts";
import type { Fill } from "./fill.ts";

const contracts = knownContracts();
const exchange = getExchange(1, "standard");
const otherExchange = getExchange(1, "neg_risk");
const [feeModule] = [...contracts.byAddress.values()].filter(({ kind }) => kind === "fee_module");
const [alice, bob, carol] = traders as [Address, Address, Address];
const operator = `0x${"0e".repeat(20)}` as Address;
const [yes, no] = testMarkets.standard.tokenIds as [TokenId, TokenId];

/** Derives the fills of a transaction written by hand: its events, at log indexes 0, 1, ... */
function derive(...said: readonly (readonly [Contract | undefined, ChainEvent])[]): {
  readonly fills: readonly Fill[];
  readonly anomalies: readonly { readonly kind: string; readonly seq: Seq }[];
} {
  const logs = said.map(([contract, event], logIndex) => {
    assert(contract !== undefined);
    const location = {
      blockNumber: 0,
      blockHash: hash("b"),
      txHash: hash("c"),
      txIndex: 0,
      logIndex,
    };
    const log = { address: contract.address, topics: [], data: "0x", ...location };
    return { log, contract, event };
  });
  return deriveFills(logs, 1000);
}

function hash(digit: string): Hash {
  return `0x${digit.repeat(64)}` as Hash;
}

function filled(order: Partial<OrderFilled>): ChainEvent {
  return {
    kind: "order_filled",
    orderHash: hash("1"),
    maker: alice,
    taker: bob,
    side: "SELL",
    tokenId: yes,
    makerAmount: 10n,
    takerAmount: 4n,
    fee: 0n,
    builder: null,
    metadata: null,
    ...order,
  };
}

/** Makes the summary of an order of bob, a buy. By default its legs sell 10 shares for 4. */
function summary(order: Partial<OrderFilled> = {}, at: Contract = exchange): ChainEvent {
  const amounts = { makerAmount: 4n, takerAmount: 10n };
  const row = {
    orderHash: hash("9"),
    maker: bob,
    taker: at.address,
    side: "BUY",
    ...amounts,
  } as const;
  return filled({ ...row, ...order });
}

function matched(takerOrderHash = hash("9")): ChainEvent {
  return { kind: "orders_matched", takerOrderHash };
}

function refunded(
  orderHash: Hash | null,
  refund: { refund: bigint; feeKept: bigint | null },
): ChainEvent {
  return { kind: "fee_refunded", orderHash, to: alice, tokenId: null, ...refund };
}

function getKinds({ anomalies }: ReturnType<typeof derive>): string[] {
  return anomalies.map(({ kind, seq }) => `${seq} ${kind}`);
}

describe("grouping", () => {
  test("direct fills before or after a match are not part of it, even those of the same order", () => {
    const { fills, anomalies } = derive(
      [exchange, filled({ taker: operator })],
      [exchange, filled({})],
      [exchange, summary()],
      [exchange, matched()],
      [exchange, filled({ taker: operator, side: "BUY" })],
    );
    assert.deepEqual(anomalies, []);
    const reported = fills.map(({ role, matchType, matchSeq, side }) => [
      role,
      matchType,
      matchSeq,
      side,
    ]);
    assert.deepEqual(reported, [
      ["direct", "direct", null, "BUY"],
      ["maker", "complementary", 3, "BUY"],
      ["taker", null, 3, "BUY"],
      ["direct", "direct", null, "SELL"],
    ]);
  });

  test("the logs of each exchange are grouped separately, even when they alternate", () => {
    const { fills, anomalies } = derive(
      [exchange, filled({})],
      [otherExchange, filled({ maker: carol })],
      [otherExchange, summary({}, otherExchange)],
      [exchange, summary()],
      [exchange, matched()],
      [otherExchange, matched()],
    );
    assert.deepEqual(anomalies, []);
    const reported = fills.map(({ exchange, matchSeq, legs }) => [
      exchange.exchange,
      matchSeq,
      legs,
    ]);
    assert.deepEqual(reported, [
      ["standard", 4, 0],
      ["neg_risk", 5, 0],
      ["neg_risk", 5, 1],
      ["standard", 4, 1],
    ]);
  });

  test("a fill with another exchange as taker is not a summary", () => {
    const { fills } = derive([exchange, filled({ taker: otherExchange.address })]);
    assert.equal(fills[0]?.role, "direct");
  });

  test("a summary without OrdersMatched is kept, and counted as an anomaly", () => {
    const twice = derive(
      [exchange, filled({})],
      [exchange, summary()],
      [exchange, filled({})],
      [exchange, summary()],
    );
    assert.deepEqual(getKinds(twice), [
      "1 summary_without_orders_matched",
      "3 summary_without_orders_matched",
    ]);
    assert.deepEqual(
      twice.fills.map(({ role, matchSeq }) => [role, matchSeq]),
      [
        ["maker", null],
        ["taker", null],
        ["maker", null],
        ["taker", null],
      ],
    );
  });

  test("OrdersMatched without its summary is counted as an anomaly", () => {
    const wrongOrder = derive(
      [exchange, filled({})],
      [exchange, summary()],
      [exchange, matched(hash("8"))],
    );
    assert.deepEqual(getKinds(wrongOrder), [
      "2 orders_matched_without_summary",
      "1 summary_without_orders_matched",
    ]);
    assert.deepEqual(getKinds(derive([exchange, matched()])), ["0 orders_matched_without_summary"]);
  });

  test("a pairing that no contract makes becomes a direct fill, and is counted as an anomaly", () => {
    const sameSideSameToken = derive(
      [exchange, filled({ side: "BUY" })],
      [exchange, summary()],
      [exchange, matched()],
    );
    const otherSideOtherToken = derive(
      [exchange, filled({ tokenId: no })],
      [exchange, summary()],
      [exchange, matched()],
    );
    for (const derived of [sameSideSameToken, otherSideOtherToken]) {
      assert.equal(getKinds(derived)[0], "0 impossible_pairing");
      assert.equal(derived.fills[0]?.matchType, "direct");
    }
  });
});

describe("reconciliation", () => {
  const withSummary = (
    amounts: { makerAmount: bigint; takerAmount: bigint },
    side: "BUY" | "SELL",
  ) =>
    getKinds(
      derive(
        [
          exchange,
          filled(side === "BUY" ? {} : { side: "BUY", makerAmount: 4n, takerAmount: 10n }),
        ],
        [exchange, summary({ side, ...amounts })],
        [exchange, matched()],
      ),
    );

  test("the taker receives the sum of the legs, and can give more", () => {
    assert.deepEqual(withSummary({ makerAmount: 4n, takerAmount: 10n }, "BUY"), []);
    assert.deepEqual(withSummary({ makerAmount: 5n, takerAmount: 10n }, "BUY"), []);
    assert.deepEqual(withSummary({ makerAmount: 10n, takerAmount: 4n }, "SELL"), []);
    assert.deepEqual(withSummary({ makerAmount: 11n, takerAmount: 4n }, "SELL"), []);
  });

  test("any other difference is counted as an anomaly", () => {
    const differs = ["1 legs_differ_from_summary"];
    assert.deepEqual(withSummary({ makerAmount: 3n, takerAmount: 10n }, "BUY"), differs);
    assert.deepEqual(withSummary({ makerAmount: 4n, takerAmount: 11n }, "BUY"), differs);
    assert.deepEqual(withSummary({ makerAmount: 10n, takerAmount: 5n }, "SELL"), differs);
    assert.deepEqual(withSummary({ makerAmount: 9n, takerAmount: 4n }, "SELL"), differs);
  });
});

describe("refunds of the fee modules", () => {
  const fee = { fee: 9n } as const;

  function getRefunds(derived: ReturnType<typeof derive>): bigint[] {
    return derived.fills.map((fill) => fill.feeRefund);
  }

  test("go to the order that they name; of several fills of it in one match, each gets its own", () => {
    const derived = derive(
      [exchange, filled(fee)],
      [exchange, filled({ fee: 6n })],
      [exchange, filled(fee)],
      [exchange, summary({ makerAmount: 12n, takerAmount: 30n, fee: 3n })],
      [exchange, matched()],
      [feeModule, refunded(hash("9"), { refund: 1n, feeKept: 2n })],
      [feeModule, refunded(hash("1"), { refund: 7n, feeKept: 2n })],
      [feeModule, refunded(hash("1"), { refund: 5n, feeKept: 1n })],
      [feeModule, refunded(hash("1"), { refund: 8n, feeKept: 1n })],
    );
    assert.deepEqual(derived.anomalies, []);
    assert.deepEqual(getRefunds(derived), [7n, 5n, 8n, 1n]);
  });

  test("go to the newest match when an order is in several matches of a transaction", () => {
    const match = [
      [exchange, filled(fee)],
      [exchange, summary()],
      [exchange, matched()],
    ] as const;
    const refund = (kept: bigint) =>
      [feeModule, refunded(hash("1"), { refund: 9n - kept, feeKept: kept })] as const;
    const afterEach = derive(...match, refund(2n), ...match, refund(3n));
    assert.deepEqual(getRefunds(afterEach), [7n, 0n, 6n, 0n]);
    const onlySecond = derive(...match, ...match, refund(3n));
    assert.deepEqual(getRefunds(onlySecond), [0n, 0n, 6n, 0n]);
  });

  test("of the first fee modules name no order, and are matched by maker, asset and amount", () => {
    const derived = derive(
      [exchange, filled({ ...fee, maker: carol })],
      [exchange, filled({ fee: 1n })],
      [exchange, filled({ ...fee, side: "BUY", tokenId: no, makerAmount: 6n, takerAmount: 10n })],
      [exchange, filled(fee)],
      [exchange, summary({ makerAmount: 16n, takerAmount: 40n })],
      [exchange, matched()],
      [feeModule, refunded(null, { refund: 5n, feeKept: null })],
    );
    assert.deepEqual(derived.anomalies, []);
    assert.deepEqual(getRefunds(derived), [0n, 0n, 0n, 5n, 0n]);
  });

  test("can differ from the fee that the exchange took, if no other fill fits better", () => {
    const one = [exchange, filled(fee)] as const;
    const alone = derive(one, [feeModule, refunded(hash("1"), { refund: 7n, feeKept: 1n })]);
    assert.deepEqual([alone.anomalies, getRefunds(alone)], [[], [7n]]);
    const other = [exchange, filled({ fee: 8n })] as const;
    const both = derive(one, other, [feeModule, refunded(hash("1"), { refund: 7n, feeKept: 1n })]);
    assert.deepEqual([both.anomalies, getRefunds(both)], [[], [0n, 7n]]);
  });

  test("that fit no fill are counted as anomalies", () => {
    const fits = [exchange, filled(fee)] as const;
    const cases = [
      refunded(hash("2"), { refund: 7n, feeKept: 2n }),
      refunded(hash("1"), { refund: 10n, feeKept: 0n }),
      refunded(null, { refund: 10n, feeKept: null }),
    ];
    for (const event of cases) {
      assert.deepEqual(getKinds(derive(fits, [feeModule, event])), ["1 refund_without_fill"]);
    }
  });
});
