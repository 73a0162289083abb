import { formatMicros, priceMicros } from "../base/decimal.ts";
import { formatTokenId, type TokenId, toBlockNumber, toLogIndex } from "../base/ids.ts";
import type { Fill } from "../market/fill.ts";
import * as trade from "./trade-row.ts";

/**
 * Returns a function that writes trades exactly as `JSON.stringify` writes their rows. It takes a fraction of the
 * time, because the texts of shared tokens and blocks are cached. Create one per page or block, because texts and
 * finality can change.
 */
export function tradeWriter(context: trade.RowContext): (fill: Fill) => string {
  const tokenText = remembered((tokenId: TokenId) =>
    getFields(trade.toTokenFields(context.getToken(tokenId))),
  );
  const decimalId = remembered(formatTokenId);
  const locationText = locationWriter(context);
  const exchangeText = remembered(
    (fill: Fill) => getFields(trade.exchangeFields(fill)),
    // In generation 3 the token decides the module.
    ({ exchange, tokenId }) => (exchange.generation === 3 ? tokenId : exchange.address),
  );
  return (fill) => {
    const { seq, txHash, side, size, value, fee, feeRefund, matchSeq, maker, taker } = fill;
    const { makerSide, orderHash, takerOrderHash, builder, metadata } = fill;
    const price = priceMicros(value, size);
    const isNet = feeRefund === 0n;
    const feeText = formatMicros(fee);
    return (
      `{"id":"${txHash}-${toLogIndex(seq)}","seq":${seq},${tokenText(fill.tokenId)},` +
      `"side":"${side}","price":${price === null ? "null" : `"${formatMicros(price)}"`},` +
      `"size":"${formatMicros(size)}","value_usd":"${formatMicros(value)}","maker_fee":"${feeText}",` +
      `"maker_fee_net":"${isNet ? feeText : formatMicros(fee - feeRefund)}",` +
      `"maker_fee_asset":"${trade.getFeeAsset(fill)}","match_seq":${matchSeq},"maker":"${maker}",` +
      `"taker":"${taker}","maker_side":"${makerSide}",` +
      `"maker_token_id":"${decimalId(fill.makerTokenId)}","match_type":"${fill.matchType ?? "direct"}",` +
      `"maker_order_hash":"${orderHash}","taker_order_hash":${quoted(takerOrderHash)},` +
      `${exchangeText(fill)},"builder":${quoted(builder)},"metadata":${quoted(metadata)},` +
      `${locationText(fill)},"maker_amount_raw":"${fill.makerAmount}",` +
      `"taker_amount_raw":"${fill.takerAmount}"}`
    );
  };
}

/** Returns a writer that adds the fields of `include=market` to each row. */
export function withMarket<Item>(
  writer: (context: trade.RowContext) => (item: Item) => string,
  getToken: (item: Item) => TokenId,
): typeof writer {
  return (context) => {
    const write = writer(context);
    const marketText = remembered((tokenId: TokenId) =>
      getFields(trade.toMarketFields(context.getToken(tokenId).market)),
    );
    return (item) => `${write(item).slice(0, -1)},${marketText(getToken(item))}}`;
  };
}

function getFields(fields: object): string {
  return JSON.stringify(fields).slice(1, -1);
}

/** Quotes a hex text, which needs no escapes. */
function quoted(hex: string | null): string {
  return hex === null ? "null" : `"${hex}"`;
}

/** Returns a function that writes an item once for each key, by default the item itself. */
function remembered<Item>(
  write: (item: Item) => string,
  getKey: (item: Item) => unknown = (item) => item,
): (item: Item) => string {
  const written = new Map<unknown, string>();
  return (item) => {
    const key = getKey(item);
    const cached = written.get(key);
    if (cached !== undefined) return cached;
    const text = write(item);
    written.set(key, text);
    return text;
  };
}

/** Writes the location of a trade. Trades come block by block, so the fields of the block are cached. */
function locationWriter(context: trade.RowContext): (fill: Fill) => string {
  let block = -1;
  let [head, end] = ["", ""];
  return (fill) => {
    const { seq, txHash, blockHash } = fill;
    const number = toBlockNumber(seq);
    if (number !== block) {
      const { timestamp, timestamp_ms, status } = trade.locationFields(fill, context);
      block = number;
      head = getFields({ block_number: number, block_hash: blockHash });
      end = getFields({ timestamp, timestamp_ms, status });
    }
    return `${head},"log_index":${toLogIndex(seq)},"tx_hash":"${txHash}",${end}`;
  };
}
