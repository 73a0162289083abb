import { assert } from "../base/assert.ts";
import { parseMicros } from "../base/decimal.ts";
import type { Address, Hash, Seq, TokenId } from "../base/ids.ts";
import type { ExchangeName, Generation } from "../decode/contracts.ts";
import type { Side } from "../decode/events.ts";
import { zeroHash } from "../decode/words.ts";
import type { Fill, FillRole, MatchType } from "../market/fill.ts";
import type { Cell, Row } from "./engine.ts";

/** The columns of `fills` in the order `parseFill` reads them; ids as hex. */
export const fillColumns = `seq, timestamp, hex(block_hash), hex(tx_hash), hex(exchange_address),
 exchange, exchange_version, role, hex(order_hash), hex(maker), hex(taker), maker_side,
 hex(maker_token_id), toString(maker_amount), toString(taker_amount), fee, fee_refund,
 hex(builder), hex(metadata), hex(token_id), side, size, value, match_type,
 hex(taker_order_hash), match_seq, legs`;

/** A row of `fillColumns` as the fill that was appended. */
export function parseFill(row: Row): Fill {
  const [seq, timestamp, blockHash, txHash, exchangeAddress, exchange, generation, ...rest] = row;
  const [role, orderHash, maker, taker, makerSide, makerTokenId, makerAmount, takerAmount] = rest;
  const [fee, feeRefund, builder, metadata, tokenId, side, size, value] = rest.slice(8);
  const [matchType, takerOrderHash, matchSeq, legs] = rest.slice(16);
  return {
    seq: Number(seq) as Seq,
    timestamp: Number(timestamp),
    blockHash: hash(blockHash),
    txHash: hash(txHash),
    exchange: {
      kind: "exchange",
      address: prefixed(exchangeAddress) as Address,
      exchange: exchange as ExchangeName,
      generation: generation as Generation,
      startBlock: 0,
    },
    role: role as FillRole,
    orderHash: hash(orderHash),
    maker: prefixed(maker) as Address,
    taker: prefixed(taker) as Address,
    makerSide: makerSide as Side,
    makerTokenId: prefixed(makerTokenId) as TokenId,
    makerAmount: BigInt(String(makerAmount)),
    takerAmount: BigInt(String(takerAmount)),
    fee: microsOf(fee),
    feeRefund: microsOf(feeRefund),
    builder: hashOrNull(builder),
    metadata: hashOrNull(metadata),
    tokenId: prefixed(tokenId) as TokenId,
    side: side as Side,
    size: microsOf(size),
    value: microsOf(value),
    matchType: matchType === "none" ? null : (matchType as MatchType),
    takerOrderHash: hashOrNull(takerOrderHash),
    matchSeq: matchSeq === 0 ? null : (Number(matchSeq) as Seq),
    legs: Number(legs),
  };
}

/** A `hex(...)` cell as `0x` hex. */
export function prefixed(cell: Cell | undefined): string {
  return `0x${String(cell).toLowerCase()}`;
}

/** A Decimal(38, 6) cell as micros. */
export function microsOf(cell: Cell | undefined): bigint {
  const micros = parseMicros(String(cell));
  assert(micros !== null, "a decimal column holds a decimal");
  return micros;
}

function hash(cell: Cell | undefined): Hash {
  return prefixed(cell) as Hash;
}

function hashOrNull(cell: Cell | undefined): Hash | null {
  const value = hash(cell);
  return value === zeroHash ? null : value;
}
