/**
 * Finds the log of each expected row on the recorded chain. The expected files identify rows by transaction and by the
 * order of legs and matches in it; the API identifies logs.
 */
import assert from "node:assert/strict";
import type { RpcLog } from "../scripted-block.ts";
import type { ExpectedMatch, ExpectedTrade, Recording } from "./recording.ts";

export const topics = {
  orderFilled: new Set([
    "0xd0a08e8c493f9c94f29311604c9de1b4e8c8d4c06bd0c789af57f2d65bfec0f6",
    "0xd543adfd945773f1a62f74f0ee55a5e3b9b1a28262980ba90b1a89f2ea84d8ee",
  ]),
  ordersMatched: new Set([
    "0x63bf4d16b7fa898ef4c4b2b6d90fd201e9c56313b65638af6088d149d2ce956c",
    "0x174b3811690657c217184f89418266767c87e4805d09680c39fc9c031c0cab7c",
  ]),
  orderCancelled: "0x5152abf959f6564662358c2e52b702259b78bac5ee7842a0f01937e670efcc7d",
  orderPreapprovalInvalidated: "0xb766aa470f20b094f26a9a14ea5bf63a60af51703c15776e2e739b6a0428adf6",
  userPaused: "0xa3e76126f19eb25001b29726d2a9502b6377938633d2d6a955107dd442e7a14a",
  conditionResolution: "0xb44d84d3289691f71497564b85d4233648d9dbae8cbdbb4329f301c3a0185894",
  conditionResolved: "0xe560c1a2847d4cf2e66de11fe592605556989449f38cc3ab96e2e287daa68caa",
};

/** The fields with which every row of the API identifies its log. */
export function getPlace(log: RpcLog): {
  readonly id: string;
  readonly seq: number;
  readonly tx_hash: string;
  readonly block_number: number;
  readonly block_hash: string;
  readonly log_index: number;
} {
  const [blockNumber, logIndex] = [Number(log.blockNumber), Number(log.logIndex)];
  return {
    id: `${log.transactionHash}-${logIndex}`,
    seq: blockNumber * 1_000_000 + logIndex,
    tx_hash: log.transactionHash,
    block_number: blockNumber,
    block_hash: log.blockHash,
    log_index: logIndex,
  };
}

/** The address in a topic or data word. */
export function addressIn(word: string): string {
  return `0x${word.slice(-40)}`;
}

/** The data words of a log, `0x` hex. */
export function toWords(log: RpcLog): string[] {
  return (log.data.slice(2).match(/.{64}/g) ?? []).map((word) => `0x${word}`);
}

export type PlacedTrade = {
  readonly expected: ExpectedTrade;
  readonly log: RpcLog;
  /** The OrdersMatched that ends its match; `null` for a direct fill. */
  readonly matched: RpcLog | null;
};

export type PlacedMatch = {
  readonly expected: ExpectedMatch;
  /** The OrdersMatched log. */
  readonly log: RpcLog;
  /** The taker's own OrderFilled, immediately before it. */
  readonly summary: RpcLog;
  readonly legs: readonly PlacedTrade[];
};

/** Pairs every expected trade with its log; fails if a leg or an expected row remains. */
export function placeTrades(recording: Recording<unknown>): PlacedTrade[] {
  const exchangeLogs = logsOfExchanges(recording);
  const expected = Map.groupBy(recording.trades, (trade) => trade.tx_hash);
  for (const [txHash, logs] of exchangeLogs) {
    assert(!logs.some(isLeg) || expected.has(txHash), `${txHash} has unexpected legs`);
  }
  return [...expected].flatMap(([txHash, trades]) => {
    const logs = exchangeLogs.get(txHash) ?? [];
    const legs = logs.filter(isLeg);
    assert.equal(legs.length, trades.length, `legs of ${txHash}`);
    const inOrder = trades.toSorted((a, b) => a.leg_index_in_tx - b.leg_index_in_tx);
    return inOrder.map((trade, index) => placeTrade(trade, legs[index] as RpcLog, logs));
  });
}

/** Pairs every expected match with its logs; fails if one remains. */
export function placeMatches(
  recording: Recording<unknown>,
  trades: readonly PlacedTrade[],
): PlacedMatch[] {
  const exchangeLogs = logsOfExchanges(recording);
  const legs = Map.groupBy(trades, (trade) => trade.matched);
  const expected = Map.groupBy(recording.matches, (match) => match.tx_hash);
  return [...expected].flatMap(([txHash, matches]) => {
    const logs = exchangeLogs.get(txHash) ?? [];
    const matched = logs.filter(isOrdersMatched);
    assert.equal(matched.length, matches.length, `matches of ${txHash}`);
    const inOrder = matches.toSorted((a, b) => a.match_index_in_tx - b.match_index_in_tx);
    return inOrder.map((match, index) => {
      const log = matched[index] as RpcLog;
      const summary = logs[logs.indexOf(log) - 1] as RpcLog;
      assert.equal(log.topics[1], match.taker_order_hash, match.case);
      assert.equal(summary.topics[1], match.taker_order_hash, match.case);
      return { expected: match, log, summary, legs: legs.get(log) ?? [] };
    });
  });
}

/** Returns the only log of the recording that `isIt` accepts. */
export function onlyLog(recording: Recording<unknown>, isIt: (log: RpcLog) => boolean): RpcLog {
  const [log, ...others] = recording.blocks.flatMap((block) => block.logs.filter(isIt));
  assert(log !== undefined && others.length === 0, "exactly one log is meant");
  return log;
}

function placeTrade(
  trade: ExpectedTrade,
  log: RpcLog,
  logsOfTransaction: readonly RpcLog[],
): PlacedTrade {
  assert.equal(log.address, trade.exchange.toLowerCase(), trade.case);
  assert.equal(log.topics[1], trade.maker_order_hash, trade.case);
  assert.equal(addressIn(log.topics[2] ?? ""), trade.maker.toLowerCase(), trade.case);
  assert.equal(addressIn(log.topics[3] ?? ""), trade.taker.toLowerCase(), trade.case);
  const [, , making, taking, fee] = toWords(log).map(BigInt);
  assert.deepEqual([making, taking, fee].map(String), [
    trade.maker_making,
    trade.maker_taking,
    trade.maker_fee,
  ]);
  if (trade.match_type === "FILL") return { expected: trade, log, matched: null };
  const later = logsOfTransaction.slice(logsOfTransaction.indexOf(log));
  const matched = later.find((other) => other.address === log.address && isOrdersMatched(other));
  assert(matched !== undefined, `${trade.case}: no OrdersMatched follows`);
  assert.equal(matched.topics[1], trade.taker_order_hash, trade.case);
  return { expected: trade, log, matched };
}

/** OrderFilled and OrdersMatched of the configured exchanges, by transaction, in order. */
function logsOfExchanges(recording: Recording<unknown>): Map<string, RpcLog[]> {
  const exchanges = new Set(recording.trades.map((trade) => trade.exchange.toLowerCase()));
  const logs = recording.blocks
    .flatMap((block) => block.logs)
    .filter((log) => exchanges.has(log.address) && (isOrderFilled(log) || isOrdersMatched(log)));
  return Map.groupBy(logs, (log) => log.transactionHash);
}

function isOrderFilled(log: RpcLog): boolean {
  return topics.orderFilled.has(log.topics[0] ?? "");
}

function isOrdersMatched(log: RpcLog): boolean {
  return topics.ordersMatched.has(log.topics[0] ?? "");
}

function isLeg(log: RpcLog): boolean {
  return isOrderFilled(log) && addressIn(log.topics[3] ?? "") !== log.address;
}
