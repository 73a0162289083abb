/**
 * Random matches as the exchanges of every generation execute them: raw logs in the order of the generation, and the
 * fills that must be derived from them. The expected fills come from the plan of a match, never from its logs.
 */
import * as fc from "fast-check";
import { toEventSelector } from "viem";
import type { Address, Hash, TokenId } from "../../src/base/ids.ts";
import { toSeq } from "../../src/base/ids.ts";
import type { Block, RawLog } from "../../src/chain/raw-log.ts";
import type { ExchangeContract } from "../../src/contracts/contracts.ts";
import type { Side } from "../../src/contracts/events.ts";
import type { Fill } from "../../src/market/fill.ts";
import { knownContracts } from "./recorded-chain.ts";

/** The two tokens of a condition. Tokens of generation 3 trade only there. */
export type Pair = readonly [TokenId, TokenId];

export type LegPlan = {
  readonly maker: Address;
  readonly orderHash: Hash;
  /** Whether the order is for the other token of the pair, which makes the leg a mint or a merge. */
  readonly isOtherToken: boolean;
  readonly shares: bigint;
  /** What the maker pays or receives. */
  readonly cash: bigint;
  readonly fee: bigint;
};

export type MatchPlan = {
  readonly kind: "match";
  readonly exchange: ExchangeContract;
  /** The fee module that refunds afterwards; generation 1 only. */
  readonly feeModule: Address | null;
  readonly taker: Address;
  readonly orderHash: Hash;
  readonly side: Side;
  readonly token: TokenId;
  readonly otherToken: TokenId;
  readonly legs: readonly LegPlan[];
  readonly fee: bigint;
  /** What the taker gave in excess of the legs, and got back. */
  readonly surplus: bigint;
  /** Zero if unused; generation 1 has none. */
  readonly builder: Hash;
};

/** An order filled by an operator without a match; generation 1 only. */
export type DirectPlan = {
  readonly kind: "direct";
  readonly exchange: ExchangeContract;
  readonly operator: Address;
  readonly side: Side;
  readonly token: TokenId;
  readonly order: LegPlan;
};

/** `gap` logs of other contracts are between any two logs of ours. */
export type TransactionPlan = {
  readonly gap: number;
  readonly items: readonly (MatchPlan | DirectPlan)[];
};

const eventTopics = {
  orderFilledV1: toEventSelector(
    "OrderFilled(bytes32,address,address,uint256,uint256,uint256,uint256,uint256)",
  ),
  orderFilledV2: toEventSelector(
    "OrderFilled(bytes32,address,address,uint8,uint256,uint256,uint256,uint256,bytes32,bytes32)",
  ),
  ordersMatchedV1: toEventSelector(
    "OrdersMatched(bytes32,address,uint256,uint256,uint256,uint256)",
  ),
  ordersMatchedV2: toEventSelector("OrdersMatched(bytes32,address,uint8,uint256,uint256,uint256)"),
  feeChargedV1: toEventSelector("FeeCharged(address,uint256,uint256)"),
  feeChargedV2: toEventSelector("FeeCharged(address,uint256)"),
  feeRefunded: toEventSelector("FeeRefunded(bytes32,address,uint256,uint256,uint256)"),
};

const zeroHash = `0x${"0".repeat(64)}` as Hash;
const contracts = [...knownContracts().byAddress.values()];
const exchanges = contracts.filter((contract) => contract.kind === "exchange");
const feeModules = contracts.filter((contract) => contract.kind === "fee_module");

/** Few traders and orders, so that they repeat: in a match, in a transaction, and as their own counterparty. */
export const traders = Array.from({ length: 4 }, (_, index) => getAddress(index + 1));
const operators = [getAddress(0xaa), getAddress(0xbb)];
const ordersPerTrader = 3;

const anyShares = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(0n, 1n, 2n) },
  { weight: 4, arbitrary: fc.bigInt({ min: 1n, max: 1_000_000_000n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: 1n, max: 10n ** 20n }) },
);
/** Micros per share. Prices above 1 occur. */
const anyPrice = fc.oneof(
  { weight: 8, arbitrary: fc.bigInt({ min: 0n, max: 1_000_000n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: 1_000_000n, max: 1_500_000n }) },
);
const anyTrader = fc.constantFrom(...traders);
const anySide = fc.constantFrom<Side>("BUY", "SELL");
const anyFeeShare = fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 1000n }));

/** Transactions of 1 to 3 matches and direct fills, on all exchanges and over these pairs. */
export function anyTransaction(
  pairs: { readonly legacy: readonly Pair[]; readonly generation3: readonly Pair[] },
  shares: fc.Arbitrary<bigint> = anyShares,
): fc.Arbitrary<TransactionPlan> {
  const anyItem = fc.constantFrom(...exchanges).chain((exchange) => {
    const pair = fc.constantFrom(...(exchange.generation === 3 ? pairs.generation3 : pairs.legacy));
    const of = { exchange, pair, shares };
    const match = fc.oneof(anyMatch(of, true), anyMatch(of, false));
    return exchange.generation === 1 ? fc.oneof(match, match, anyDirect(of)) : match;
  });
  return fc.record({ gap: fc.nat(2), items: fc.array(anyItem, { minLength: 1, maxLength: 3 }) });
}

/** The exchange, pairs and sizes of matches. */
type Market = {
  readonly exchange: ExchangeContract;
  readonly pair: fc.Arbitrary<Pair>;
  readonly shares: fc.Arbitrary<bigint>;
};

function anyMatch(
  { exchange, pair, shares }: Market,
  isTwoSided: boolean,
): fc.Arbitrary<MatchPlan> {
  const anyLeg = fc.record({
    maker: anyTrader,
    order: fc.nat(ordersPerTrader - 1),
    isOtherToken: isTwoSided ? fc.boolean() : fc.constant(false),
    shares,
    price: anyPrice,
    feeShare: anyFeeShare,
  });
  const anyPlan = fc.record({
    pair,
    isFirstToken: fc.boolean(),
    taker: anyTrader,
    side: anySide,
    feeShare: anyFeeShare,
    legs: fc.array(anyLeg, { minLength: 1, maxLength: 4 }),
    surplus: fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: 10n ** 9n })),
    builder: fc.oneof(fc.constant(zeroHash), fc.constant(`0x${"bd".repeat(32)}` as Hash)),
    feeModule: fc.option(fc.constantFrom(...feeModules.map(({ address }) => address))),
  });
  return anyPlan.map((plan) => {
    const [token, otherToken] = plan.isFirstToken ? plan.pair : plan.pair.toReversed();
    if (token === undefined || otherToken === undefined) throw new Error("a pair has two tokens");
    const legs = payable(
      plan.legs.map((leg) => {
        const legToken = leg.isOtherToken ? otherToken : token;
        const makerSide = leg.isOtherToken ? plan.side : opposite(plan.side);
        const cash = (leg.shares * leg.price) / 1_000_000n;
        const received = exchange.generation === 1 && makerSide === "BUY" ? leg.shares : cash;
        return {
          maker: leg.maker,
          orderHash: getOrderHash(leg.maker, legToken, `${makerSide}${leg.order}`),
          isOtherToken: leg.isOtherToken,
          shares: leg.shares,
          cash,
          fee: (received * leg.feeShare) / 10_000n,
        };
      }),
    );
    const { generation } = exchange;
    const hasSurplus = generation === 1 || (generation === 2 && isTwoSided);
    const [size, value] = getSums(legs);
    const received = generation === 1 && plan.side === "BUY" ? size : value;
    return {
      kind: "match",
      exchange,
      feeModule: generation === 1 ? plan.feeModule : null,
      taker: plan.taker,
      orderHash: getOrderHash(plan.taker, token, `${plan.side}taker`),
      side: plan.side,
      token,
      otherToken,
      legs,
      fee: (received * plan.feeShare) / 10_000n,
      surplus: hasSurplus ? plan.surplus : 0n,
      builder: generation === 1 ? zeroHash : plan.builder,
    };
  });
}

function anyDirect({ exchange, pair, shares }: Market): fc.Arbitrary<DirectPlan> {
  const anyPlan = fc.record({
    pair,
    operator: fc.constantFrom(...operators),
    side: anySide,
    maker: anyTrader,
    shares,
    price: anyPrice,
  });
  return anyPlan.map(({ pair, operator, side, maker, shares, price }) => {
    const cash = (shares * price) / 1_000_000n;
    const orderHash = getOrderHash(maker, pair[0], `${side}direct`);
    const order = { maker, orderHash, isOtherToken: false, shares, cash, fee: cash / 100n };
    return { kind: "direct", exchange, operator, side, token: pair[0], order };
  });
}

/** Adjusts legs so that the taker's sum is never negative, though a single leg can be. */
function payable(legs: readonly LegPlan[]): LegPlan[] {
  let sum = 0n;
  return legs.map((leg) => {
    const fair =
      leg.isOtherToken && sum + getValue(leg) < 0n
        ? { ...leg, cash: leg.shares + sum, fee: 0n }
        : leg;
    sum += getValue(fair);
    return fair;
  });
}

/** The value of a leg for the taker. */
function getValue(leg: LegPlan): bigint {
  return leg.isOtherToken ? leg.shares - leg.cash : leg.cash;
}

function getSums(legs: readonly LegPlan[]): readonly [size: bigint, value: bigint] {
  const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((a, b) => a + b, 0n);
  return [sum(legs.map((leg) => leg.shares)), sum(legs.map(getValue))];
}

/** A block under construction: its logs in order, and the fills that must be derived from them. */
export class BlockWriter {
  readonly #place: Omit<Block, "logs">;
  readonly #logs: RawLog[] = [];
  readonly #fills: Fill[] = [];
  #txIndex = -1;
  #nextLogIndex = 0;

  constructor(place: Omit<Block, "logs">) {
    this.#place = place;
  }

  get block(): Block {
    return { ...this.#place, logs: this.#logs };
  }

  /** The fills in log order, as `deriveBlockFacts` must return them. */
  get fills(): readonly Fill[] {
    return this.#fills;
  }

  /** Adds a transaction of trades. */
  addTransaction({ gap, items }: TransactionPlan): void {
    this.#txIndex += 1;
    for (const item of items) {
      if (item.kind === "match") this.#addMatch(item, gap);
      else this.#addDirect(item, gap);
    }
  }

  /** Adds a transaction of one other log. */
  addLog(log: Pick<RawLog, "address" | "topics" | "data">): void {
    this.#txIndex += 1;
    this.#push(log, 0);
  }

  #push(log: Pick<RawLog, "address" | "topics" | "data">, gap: number): number {
    const { number, hash } = this.#place;
    this.#nextLogIndex += gap;
    const logIndex = this.#nextLogIndex;
    this.#nextLogIndex += 1;
    const txHash = this.#txHash();
    const place = { blockNumber: number, blockHash: hash, txHash, txIndex: this.#txIndex };
    this.#logs.push({ ...log, ...place, logIndex });
    return logIndex;
  }

  #txHash(): Hash {
    return `${this.#place.hash.slice(0, 58)}${(this.#txIndex + 1).toString(16).padStart(8, "0")}` as Hash;
  }

  /** `FeeCharged` precedes its fill; in generation 3 it follows the fill, or all fills of makers. */
  #addMatch(plan: MatchPlan, gap: number): void {
    const { exchange, taker, legs } = plan;
    const isFast = !legs.some((leg) => leg.isOtherToken);
    const isGeneration3 = exchange.generation === 3;
    const fills = legs.map((leg) => this.#legFill(plan, leg));
    const charge = (fill: Fill): void => {
      if (fill.fee > 0n) this.#push(feeChargedLog(fill), gap);
    };
    const write = (fill: Fill, to: Address): void => {
      if (!isGeneration3) charge(fill);
      this.#fills.push(this.#placed(fill, this.#push(orderFilledLog(fill, to), gap)));
      if (isGeneration3 && isFast) charge(fill);
    };
    const first = this.#fills.length;
    for (const fill of fills) write(fill, taker);
    if (isGeneration3 && !isFast) fills.forEach(charge);
    const summary = this.#summaryFill(plan);
    charge(summary);
    const summaryIndex = this.#push(orderFilledLog(summary, exchange.address), gap);
    this.#fills.push(this.#placed(summary, summaryIndex));
    const matchSeq = toSeq(this.#place.number, this.#push(ordersMatchedLog(summary), 0));
    const reported = this.#fills.splice(first).map((fill) => ({ ...fill, matchSeq }));
    this.#fills.push(...this.#refunded(reported, plan.feeModule, gap));
  }

  #addDirect({ exchange, operator, side, token, order }: DirectPlan, gap: number): void {
    const row = { exchange, maker: order.maker, side, token };
    const fill: Fill = {
      ...this.#toRow(row, order),
      role: "direct",
      taker: operator,
      side: opposite(side),
      matchType: "direct",
    };
    this.#fills.push(this.#placed(fill, this.#push(orderFilledLog(fill, operator), gap)));
  }

  /** The taker is refunded first, then the makers. */
  #refunded(reported: readonly Fill[], feeModule: Address | null, gap: number): Fill[] {
    if (feeModule === null) return [...reported];
    const refunded = reported.map((fill) => ({ ...fill, feeRefund: fill.fee - fill.fee / 3n }));
    for (const fill of [...refunded.slice(-1), ...refunded.slice(0, -1)]) {
      if (fill.feeRefund > 0n) this.#push(feeRefundedLog(fill, feeModule), gap);
    }
    return refunded;
  }

  #legFill(plan: MatchPlan, leg: LegPlan): Fill {
    const { exchange, side, taker } = plan;
    const maker = {
      exchange,
      maker: leg.maker,
      side: leg.isOtherToken ? side : opposite(side),
      token: leg.isOtherToken ? plan.otherToken : plan.token,
    };
    const twoSided = side === "BUY" ? "mint" : "merge";
    return {
      ...this.#toRow(maker, leg),
      builder: nullIfZero(plan.builder),
      taker,
      side,
      tokenId: plan.token,
      value: getValue(leg),
      matchType: leg.isOtherToken ? twoSided : "complementary",
      takerOrderHash: plan.orderHash,
    };
  }

  #summaryFill(plan: MatchPlan): Fill {
    const { exchange, taker, side, token, orderHash, fee, surplus } = plan;
    const [size, value] = getSums(plan.legs);
    const order = { orderHash, fee, shares: size, cash: value };
    const row = this.#toRow({ exchange, maker: taker, side, token }, order);
    return {
      ...row,
      makerAmount: row.makerAmount + surplus,
      builder: nullIfZero(plan.builder),
      role: "taker",
      taker: exchange.address,
      takerOrderHash: orderHash,
      legs: plan.legs.length,
    };
  }

  /** The fill of one order, without fields of its match. */
  #toRow(
    owner: { exchange: ExchangeContract; maker: Address; side: Side; token: TokenId },
    order: { orderHash: Hash; shares: bigint; cash: bigint; fee: bigint },
  ): Fill {
    const { exchange, maker, side, token } = owner;
    const { orderHash, shares, cash, fee } = order;
    return {
      seq: toSeq(this.#place.number, 0),
      timestamp: this.#place.timestamp,
      blockHash: this.#place.hash,
      txHash: this.#txHash(),
      exchange,
      role: "maker",
      orderHash,
      maker,
      taker: exchange.address,
      makerSide: side,
      makerTokenId: token,
      makerAmount: side === "BUY" ? cash : shares,
      takerAmount: side === "BUY" ? shares : cash,
      fee,
      feeRefund: 0n,
      builder: null,
      metadata: null,
      tokenId: token,
      side,
      size: shares,
      value: cash,
      matchType: null,
      takerOrderHash: null,
      matchSeq: null,
      legs: 0,
    };
  }

  #placed(fill: Fill, logIndex: number): Fill {
    return { ...fill, seq: toSeq(this.#place.number, logIndex) };
  }
}

type LogContent = Pick<RawLog, "address" | "topics" | "data">;

function orderFilledLog(fill: Fill, taker: Address): LogContent {
  const { exchange, orderHash, maker, makerAmount, takerAmount, fee } = fill;
  const amounts = [makerAmount, takerAmount, fee];
  const isBuy = fill.makerSide === "BUY";
  const content =
    exchange.generation === 1
      ? [...getAssets(fill), ...amounts]
      : [isBuy ? 0 : 1, fill.makerTokenId, ...amounts, fill.builder ?? 0, 0];
  const topic0 = eventTopics[exchange.generation === 1 ? "orderFilledV1" : "orderFilledV2"];
  return getLog(exchange.address, [topic0, orderHash, maker, taker], content);
}

/** Repeats the taker's fill. */
function ordersMatchedLog(summary: Fill): LogContent {
  const { exchange, orderHash, maker, makerAmount, takerAmount } = summary;
  const isV1 = exchange.generation === 1;
  const what = isV1
    ? getAssets(summary)
    : [summary.makerSide === "BUY" ? 0 : 1, summary.makerTokenId];
  const topic0 = eventTopics[isV1 ? "ordersMatchedV1" : "ordersMatchedV2"];
  return getLog(exchange.address, [topic0, orderHash, maker], [...what, makerAmount, takerAmount]);
}

function feeChargedLog({ exchange, makerSide, makerTokenId, fee }: Fill): LogContent {
  const receiver = operators[0] ?? "";
  if (exchange.generation !== 1) {
    return getLog(exchange.address, [eventTopics.feeChargedV2, receiver], [fee]);
  }
  const asset = makerSide === "BUY" ? makerTokenId : 0;
  return getLog(exchange.address, [eventTopics.feeChargedV1, receiver], [asset, fee]);
}

function feeRefundedLog(fill: Fill, feeModule: Address): LogContent {
  const { orderHash, maker, fee, feeRefund } = fill;
  const topics = [eventTopics.feeRefunded, orderHash, maker, word(fee - feeRefund)];
  return getLog(feeModule, topics, [fill.makerSide === "BUY" ? fill.makerTokenId : 0, feeRefund]);
}

/** The two asset ids of a V1 order, given and received; collateral is 0. */
function getAssets({ makerSide, makerTokenId }: Fill): readonly (TokenId | number)[] {
  return makerSide === "BUY" ? [0, makerTokenId] : [makerTokenId, 0];
}

function getLog(
  address: Address,
  topics: readonly string[],
  words: readonly (string | bigint | number)[],
): LogContent {
  const data = `0x${words.map((value) => word(value).slice(2)).join("")}`;
  return { address, topics: topics.map(word), data };
}

/** A value as an ABI word, padded on the left. */
function word(value: string | bigint | number): Hash {
  const digits = typeof value === "string" ? value.slice(2) : value.toString(16);
  return `0x${digits.padStart(64, "0")}` as Hash;
}

function getOrderHash(maker: Address, token: TokenId, name: string): Hash {
  const digits = Buffer.from(name).toString("hex").padStart(22, "0");
  return `0x${maker.slice(-2)}${token.slice(26)}${digits}`.slice(0, 66) as Hash;
}

function getAddress(index: number): Address {
  return `0x${index.toString(16).padStart(2, "0").repeat(20)}` as Address;
}

function nullIfZero(hash: Hash): Hash | null {
  return hash === zeroHash ? null : hash;
}

function opposite(side: Side): Side {
  return side === "BUY" ? "SELL" : "BUY";
}
