/**
 * Derives the fills of one transaction from its events, by the rules of `docs/counting.md`:
 *
 * 1. Walk one exchange's events in log order and collect legs until the summary row, whose `taker`
 *    is the exchange itself; `OrdersMatched` of the same order must follow it.
 * 2. The legs of the match are the collected ones directly before the summary whose taker is the
 *    summary's maker. An operator filled the others directly: they belong to no match.
 * 3. Token and side come from the summary; a leg on the other token is a mint or a merge and is
 *    worth its shares less the maker's cash.
 *
 * Grouping never looks at a transaction as a whole, so a transaction can have several matches.
 */
import { type Seq, type TokenId, toSeq } from "../base/ids.ts";
import type { RawLog } from "../chain/raw-log.ts";
import type { ExchangeContract } from "../contracts/contracts.ts";
import type { FeeRefunded, OrderFilled, OrdersMatched } from "../contracts/events.ts";
import type { DecodedLog } from "../contracts/log-decoder.ts";
import { type Fill, getCash, type MatchType } from "./fill.ts";
import { invertSide } from "./invert.ts";

/** A match that breaks the rules. It is served, logged and counted. */
export type MatchAnomaly = {
  readonly seq: Seq;
  readonly kind:
    | "legs_differ_from_summary"
    | "summary_without_orders_matched"
    | "orders_matched_without_summary"
    | "impossible_pairing"
    | "refund_without_fill"
    | "ledger_differs_from_transfers";
};

/** A fill that is still being completed, in place: its match and refund follow in later logs. */
type Draft = { -readonly [Field in keyof Fill]: Fill[Field] };

/** The state of one exchange within the transaction: legs without a summary, and the match of the last summary. */
type OpenGroup = {
  collected: Draft[];
  match: { readonly summary: Draft; readonly legs: readonly Draft[] } | null;
};

/** Derives the fills of one transaction, in log order, from its decoded logs in log order. */
export function deriveFills(
  logs: readonly DecodedLog[],
  timestamp: number,
): { readonly fills: readonly Fill[]; readonly anomalies: readonly MatchAnomaly[] } {
  const walk = new TransactionWalk(timestamp);
  for (const decoded of logs) walk.take(decoded);
  return walk.finish();
}

class TransactionWalk {
  readonly #timestamp: number;
  readonly #fills: Draft[] = [];
  readonly #anomalies: MatchAnomaly[] = [];
  readonly #groups = new Map<ExchangeContract, OpenGroup>();

  constructor(timestamp: number) {
    this.#timestamp = timestamp;
  }

  take({ log, contract, event }: DecodedLog): void {
    const seq = toSeq(log.blockNumber, log.logIndex);
    if (event.kind === "fee_refunded") return this.#takeRefund(event, seq);
    if (contract.kind !== "exchange") return;
    if (event.kind === "order_filled") {
      const draft = toDraft(event, log, { seq, timestamp: this.#timestamp, exchange: contract });
      this.#fills.push(draft);
      const group = this.#toGroup(contract);
      if (draft.role === "taker") this.#sumUp(group, draft);
      else group.collected.push(draft);
    } else if (event.kind === "orders_matched") {
      this.#takeOrdersMatched(event, seq, this.#toGroup(contract));
    }
  }

  finish(): { fills: readonly Fill[]; anomalies: readonly MatchAnomaly[] } {
    for (const group of this.#groups.values()) this.#reportUnmatched(group);
    return { fills: this.#fills, anomalies: this.#anomalies };
  }

  #toGroup(contract: ExchangeContract): OpenGroup {
    const group = this.#groups.get(contract) ?? { collected: [], match: null };
    this.#groups.set(contract, group);
    return group;
  }

  /** Joins the legs of `summary` with it. Collected legs before them remain direct fills. */
  #sumUp(group: OpenGroup, summary: Draft): void {
    this.#reportUnmatched(group);
    let first = group.collected.length;
    while (group.collected[first - 1]?.taker === summary.maker) first -= 1;
    const legs = group.collected.slice(first);
    group.collected = [];
    group.match = { summary, legs };
    summary.legs = legs.length;
    summary.size = 0n;
    summary.value = 0n;
    for (const leg of legs) {
      this.#joinLeg(leg, summary);
      summary.size += leg.size;
      summary.value += leg.value;
    }
    if (!reconciles(summary)) this.#record("legs_differ_from_summary", summary.seq);
  }

  #joinLeg(leg: Draft, summary: Draft): void {
    const matchType = getMatchType(leg, summary);
    if (matchType === null) return this.#record("impossible_pairing", leg.seq);
    leg.role = "maker";
    leg.matchType = matchType;
    leg.takerOrderHash = summary.orderHash;
    leg.tokenId = summary.makerTokenId;
    leg.side = summary.makerSide;
    const makerValue = getCash(leg);
    leg.value = matchType === "complementary" ? makerValue : leg.size - makerValue;
  }

  /** Gives the match its position, and confirms that its summary was one. */
  #takeOrdersMatched(event: OrdersMatched, seq: Seq, group: OpenGroup): void {
    const match = group.match;
    if (match === null || match.summary.orderHash !== event.takerOrderHash) {
      return this.#record("orders_matched_without_summary", seq);
    }
    match.summary.matchSeq = seq;
    for (const leg of match.legs) leg.matchSeq = seq;
    group.match = null;
  }

  #reportUnmatched({ match }: OpenGroup): void {
    if (match !== null) this.#record("summary_without_orders_matched", match.summary.seq);
  }

  /**
   * Assigns a refund to a fill. A fee module refunds after each match, so the refund belongs to the newest match of
   * the order. A match can list an order twice: the first fill without a refund gets it. Fills whose fee equals
   * refund plus kept fee come first. The two can differ for a taker: the module computes the fee from the amount that
   * its operator passes, the exchange from the amount received.
   */
  #takeRefund(refund: FeeRefunded, seq: Seq): void {
    const candidates = this.#fills.filter((fill) => canHaveRefund(fill, refund));
    const exact = candidates.filter(({ fee }) => fee === refund.refund + (refund.feeKept ?? 0n));
    const meant = refund.orderHash !== null && exact.length > 0 ? exact : candidates;
    const newestMatch = meant.at(-1)?.matchSeq;
    const fill = meant.find((candidate) => candidate.matchSeq === newestMatch);
    if (fill === undefined) return this.#record("refund_without_fill", seq);
    fill.feeRefund = refund.refund;
  }

  #record(kind: MatchAnomaly["kind"], seq: Seq): void {
    this.#anomalies.push({ kind, seq });
  }
}

/** Makes a fill from its event alone: a summary if its taker is the exchange, else a direct fill. */
function toDraft(
  event: OrderFilled,
  log: RawLog,
  { seq, timestamp, exchange }: Pick<Fill, "seq" | "timestamp" | "exchange">,
): Draft {
  const isSummary = event.taker === log.address;
  return {
    seq,
    timestamp,
    blockHash: log.blockHash,
    txHash: log.txHash,
    exchange,
    role: isSummary ? "taker" : "direct",
    orderHash: event.orderHash,
    maker: event.maker,
    taker: event.taker,
    makerSide: event.side,
    makerTokenId: event.tokenId,
    makerAmount: event.makerAmount,
    takerAmount: event.takerAmount,
    fee: event.fee,
    feeRefund: 0n,
    builder: event.builder,
    metadata: event.metadata,
    tokenId: event.tokenId,
    side: isSummary ? event.side : invertSide(event.side),
    size: event.side === "BUY" ? event.takerAmount : event.makerAmount,
    value: event.side === "BUY" ? event.makerAmount : event.takerAmount,
    matchType: isSummary ? null : "direct",
    takerOrderHash: isSummary ? event.orderHash : null,
    matchSeq: null,
    legs: 0,
  };
}

/** Opposite sides trade one token; equal sides trade both tokens of a pair. Returns `null` for any other pairing. */
function getMatchType(leg: Draft, summary: Draft): MatchType | null {
  const sameToken = leg.makerTokenId === summary.makerTokenId;
  const sameSide = leg.makerSide === summary.makerSide;
  if (sameToken === sameSide) return null;
  if (sameToken) return "complementary";
  return leg.makerSide === "BUY" ? "mint" : "merge";
}

/**
 * Checks a match: the taker receives exactly the sum of the legs, but can give more than the sum. The excess is
 * returned in a plain transfer (`docs/counting.md`, rule 5).
 */
function reconciles(summary: Draft): boolean {
  const [received, given] =
    summary.makerSide === "BUY" ? [summary.size, summary.value] : [summary.value, summary.size];
  return summary.takerAmount === received && summary.makerAmount >= given;
}

function canHaveRefund(fill: Draft, refund: FeeRefunded): boolean {
  if (fill.feeRefund !== 0n || refund.refund > fill.fee) return false;
  if (refund.orderHash !== null) return fill.orderHash === refund.orderHash;
  return fill.maker === refund.to && getFeeToken(fill) === refund.tokenId;
}

/** Returns the token of a generation 1 fee; `null` for collateral. A BUY is charged in the shares that it receives. */
function getFeeToken(fill: Draft): TokenId | null {
  return fill.makerSide === "BUY" ? fill.makerTokenId : null;
}
