import { type Static, Type } from "typebox";
import { formatMicros, priceMicros } from "../base/decimal.ts";
import { formatTokenId, type TokenId, toBlockNumber, toLogIndex } from "../base/ids.ts";
import type { Contracts } from "../contracts/contracts.ts";
import type { Fill } from "../market/fill.ts";
import { parseGen3TokenId } from "../market/ids/gen3-ids.ts";
import type { Market, TokenFacts } from "../market/market.ts";
import * as wire from "./wire-format.ts";

const feeAssetText = Type.Enum(["collateral", "token"]);
const matchTypeText = Type.Enum(["complementary", "mint", "merge", "direct"]);

const includedText = Type.Optional(
  wire.nullable(Type.String({ description: "With include=market only" })),
);

/** The fields that `include=market` adds to a row. */
export const marketFields = { question: includedText, slug: includedText, event_id: includedText };

/** The id of a row, and its position in every list. */
export const idShape = {
  id: Type.String({
    description: "Identity of the row: <tx_hash>-<log_index>",
    examples: ["0xf9d27ed3119504c98ef5b879a17d1e131d84f4b766b25a4b080557f86206a601-3"],
  }),
  seq: wire.seqNumber,
};

/** Which outcome of which market a token is. */
export const tokenShape = {
  token_id: wire.tokenIdText,
  complement_token_id: wire.nullable(wire.tokenIdText),
  condition_id: wire.nullable(wire.conditionIdText),
  outcome: wire.nullableText,
  outcome_index: wire.nullable(Type.Integer()),
};

/** The exchange contract that logged a row. */
export const exchangeShape = {
  exchange: wire.exchangeText,
  exchange_version: wire.exchangeVersionNumber,
  exchange_address: wire.addressText,
};

/** The fields that generations 2 and 3 add to an order, and the module of generation 3. */
export const orderShape = {
  module: wire.nullable(wire.moduleText),
  builder: wire.nullable(wire.hashText),
  metadata: wire.nullable(wire.hashText),
};

/** Where and when on the chain. */
export const locationShape = {
  block_number: Type.Integer(),
  block_hash: wire.hashText,
  log_index: Type.Integer(),
  tx_hash: wire.hashText,
  ...wire.timeShape,
  status: wire.statusText,
};

/** One trade: one maker leg of a match, from the taker's side (`docs/counting.md`, rules 1 to 6). */
export const tradeRow = Type.Object({
  ...idShape,
  ...tokenShape,
  side: wire.sideText,
  price: wire.nullableDecimal,
  size: wire.decimalText,
  value_usd: wire.decimalText,
  maker_fee: wire.decimalText,
  maker_fee_net: wire.decimalText,
  maker_fee_asset: feeAssetText,
  match_seq: wire.nullable(wire.seqNumber),
  maker: wire.addressText,
  taker: wire.addressText,
  maker_side: wire.sideText,
  maker_token_id: wire.tokenIdText,
  match_type: matchTypeText,
  maker_order_hash: wire.hashText,
  taker_order_hash: wire.nullable(wire.hashText),
  ...exchangeShape,
  ...orderShape,
  ...locationShape,
  maker_amount_raw: wire.rawAmountText,
  taker_amount_raw: wire.rawAmountText,
  ...marketFields,
});
export type TradeRow = Static<typeof tradeRow>;

/** What is known outside of a row when it is formatted. */
export type RowContext = {
  readonly contracts: Contracts;
  readonly getToken: (tokenId: TokenId) => TokenFacts;
  /** The fee of conversions of a token's event, in hundredths of a percent. */
  readonly getFeeBips: (tokenId: TokenId) => number;
  /** The newest final block; -1 before the first. */
  readonly finalizedBlock: number;
};

/** A trade as clients see it. */
export function toTradeRow(fill: Fill, context: RowContext): TradeRow {
  return {
    ...idFields(fill),
    ...toTokenFields(context.getToken(fill.tokenId)),
    side: fill.side,
    price: wire.decimalOrNull(priceMicros(fill.value, fill.size)),
    size: formatMicros(fill.size),
    value_usd: formatMicros(fill.value),
    maker_fee: formatMicros(fill.fee),
    maker_fee_net: formatMicros(fill.fee - fill.feeRefund),
    maker_fee_asset: getFeeAsset(fill),
    match_seq: fill.matchSeq,
    maker: fill.maker,
    taker: fill.taker,
    maker_side: fill.makerSide,
    maker_token_id: formatTokenId(fill.makerTokenId),
    match_type: fill.matchType ?? "direct",
    maker_order_hash: fill.orderHash,
    taker_order_hash: fill.takerOrderHash,
    ...exchangeFields(fill),
    builder: fill.builder,
    metadata: fill.metadata,
    ...locationFields(fill, context),
    maker_amount_raw: fill.makerAmount.toString(),
    taker_amount_raw: fill.takerAmount.toString(),
  };
}

/** Returns the asset of a fee. Generation 1 charges in the asset that the order receives, later ones in collateral. */
export function getFeeAsset(fill: Fill): "collateral" | "token" {
  return fill.exchange.generation === 1 && fill.makerSide === "BUY" ? "token" : "collateral";
}

/** Returns id and position. Above finality a reorg can give the position to another row, so the id has the hash. */
export function idFields({ seq, txHash }: Pick<Fill, "seq" | "txHash">): {
  id: string;
  seq: number;
} {
  return { id: `${txHash}-${toLogIndex(seq)}`, seq };
}

/** The outcome and market of a token; all `null` while the market is unknown. */
export function toTokenFields({
  tokenId,
  complement,
  conditionId,
  outcome,
  outcomeIndex,
}: TokenFacts): Pick<TradeRow, keyof typeof tokenShape> {
  return {
    token_id: formatTokenId(tokenId),
    complement_token_id: complement && formatTokenId(complement),
    condition_id: conditionId && wire.formatConditionId(conditionId),
    outcome,
    outcome_index: outcomeIndex,
  };
}

/** The fields of `include=market`; each is `null` while it is unknown. */
export function toMarketFields(market: Market | null) {
  return {
    question: market?.question ?? null,
    slug: market?.venue?.slug ?? null,
    event_id: market?.eventId ?? null,
  };
}

/** What the views have of a token and its market, as rows present it. `module` is that of generation 3, for any id of its form. */
export function toTokenAndMarketFields(token: TokenFacts) {
  return {
    ...toTokenFields(token),
    module: parseGen3TokenId(token.tokenId)?.module ?? null,
    ...toMarketFields(token.market),
  };
}

/** The exchange that settled a fill. The token id of generation 3 encodes `module`. */
export function exchangeFields({
  exchange,
  tokenId,
}: Pick<Fill, "exchange" | "tokenId">): Pick<TradeRow, keyof typeof exchangeShape | "module"> {
  const { generation } = exchange;
  return {
    exchange: exchange.exchange,
    exchange_version: generation,
    exchange_address: exchange.address,
    module: generation === 3 ? (parseGen3TokenId(tokenId)?.module ?? null) : null,
  };
}

/** Where and when on the chain. */
export function locationFields(
  row: Pick<Fill, "seq" | "blockHash" | "txHash" | "timestamp">,
  { finalizedBlock }: RowContext,
): Pick<TradeRow, keyof typeof locationShape> {
  const blockNumber = toBlockNumber(row.seq);
  return {
    block_number: blockNumber,
    block_hash: row.blockHash,
    log_index: toLogIndex(row.seq),
    tx_hash: row.txHash,
    ...wire.timeFields(row.timestamp),
    status: blockNumber <= finalizedBlock ? "finalized" : "confirmed",
  };
}
