/** Reads from the fills of a range what the totals of the platform are made of: only a state without a copy needs it. */
import type { Seq, TokenId } from "../base/ids.ts";
import type { Range } from "../base/range.ts";
import type { Generation } from "../contracts/contracts.ts";
import { type HourTotals, toMark } from "../market/hour-totals.ts";
import { readRows } from "./codec/fixed-rows.ts";
import type { Engine } from "./engine/engine.ts";
import { toPages } from "./read-day-trades.ts";
import { integerLiteral } from "./sql-literal.ts";

/** A day in which a token was traded. It begins at `day`, in Unix seconds. */
export type TokenDay = {
  readonly tokenId: TokenId;
  readonly day: number;
  readonly generation: Generation;
};

/** The mark of a wallet of a day, which begins at `day`, in Unix seconds. */
type DayMark = { readonly day: number; readonly generation: Generation; readonly mark: number };

const toMicros = (decimal: string) => `toInt256(reinterpret(${decimal}, 'Int128'))`;
const fee = toMicros("fee - fee_refund");
const isInShares = "exchange_version = 1 AND maker_side = 'BUY'";
// As `getSettledCash` for a BUY.
const paid = `if(role = 'taker', ${toMicros("value")}, toInt256(maker_amount))`;
const feeUsd = `if(${isInShares}, intDivOrZero(${fee} * ${paid}, ${toMicros("size")}), ${fee})`;

const sums = {
  hour: ["toUInt32(intDiv(timestamp, 3600) * 3600) AS hour", 4],
  generation: ["exchange_version", 1],
  trades: ["countIf(role != 'taker')", 8],
  volumeUsd: ["sumIf(value, role != 'taker')", 16],
  feesUsd: [`sum(${feeUsd})`, 32],
  builder: ["builder", 32],
  isAll: ["toUInt8(grouping(builder)) AS all_orders", 1],
} as const;

const marks = {
  day: ["toUInt32(intDiv(timestamp, 86400) * 86400) AS day", 4],
  generation: ["exchange_version", 1],
  register: [
    "bitShiftRight(reinterpretAsUInt16(reverse(substring(wallet, 1, 2))), 4) AS register",
    2,
  ],
  bits: [
    "min(toUInt32(bitAnd(bitShiftRight(reinterpretAsUInt64(reverse(substring(wallet, 1, 8))), 20), 4294967295)))",
    4,
  ],
} as const;

const tokenDays = {
  tokenId: ["token_id", 32],
  generation: ["exchange_version", 1],
  day: ["toUInt32(intDiv(timestamp, 86400) * 86400) AS day", 4],
} as const;

/** Blocks whose totals one query reads: about ten days of Polygon, in which some 100,000 tokens are traded. */
const pageBlocks = 400_000;

/** Returns the pages of a range in which there are fills. */
export async function readFillPages(
  engine: Engine,
  range: Range<Seq>,
): Promise<Iterable<Range<Seq>>> {
  const [row] = await engine.query(
    `SELECT count(), min(seq), max(seq) FROM fills WHERE ${within(range)}`,
  );
  const [count, from, last] = (row ?? []).map(Number);
  if (!count) return [];
  return toPages({ from: from as Seq, to: (Number(last) + 1) as Seq, pageBlocks });
}

/** Reads the totals of each hour and of each builder code in it, without wallets. */
export async function readHourSums(
  engine: Engine,
  range: Range<Seq>,
): Promise<Iterable<HourTotals>> {
  const clauses = `FROM fills WHERE ${within(range)}
    GROUP BY GROUPING SETS ((hour, exchange_version), (hour, exchange_version, builder))
    HAVING all_orders OR builder != toFixedString('', 32)`;
  return readRows(engine, { columns: sums, clauses }, (reader, row, at) => ({
    hour: reader.uint32(row + at.hour),
    generation: reader.uint8(row + at.generation) as Generation,
    trades: reader.uint64(row + at.trades),
    volumeUsd: reader.int128(row + at.volumeUsd),
    feesUsd: reader.int256(row + at.feesUsd),
    builder: reader.uint8(row + at.isAll) === 1 ? null : reader.hash(row + at.builder),
    walletMarks: [],
  }));
}

/** Reads the marks of the wallets that traded on each day. */
export async function readWalletMarks(
  engine: Engine,
  range: Range<Seq>,
): Promise<Iterable<DayMark>> {
  const clauses = `FROM fills ARRAY JOIN [maker, taker] AS wallet
    WHERE ${within(range)} AND role != 'taker' GROUP BY day, exchange_version, register`;
  return readRows(engine, { columns: marks, clauses }, (reader, row, at) => ({
    day: reader.uint32(row + at.day),
    generation: reader.uint8(row + at.generation) as Generation,
    mark: toMark(reader.uint16(row + at.register), reader.uint32(row + at.bits)),
  }));
}

/** Reads the days in which each token was traded, token by token. */
export async function readTokenDays(
  engine: Engine,
  range: Range<Seq>,
): Promise<Iterable<TokenDay>> {
  const clauses = `FROM fills WHERE ${within(range)} AND role != 'taker'
    GROUP BY token_id, exchange_version, day ORDER BY token_id`;
  return readRows(engine, { columns: tokenDays, clauses }, (reader, row, at) => ({
    tokenId: reader.tokenId(row + at.tokenId),
    generation: reader.uint8(row + at.generation) as Generation,
    day: reader.uint32(row + at.day),
  }));
}

function within({ from, to }: Range<Seq>): string {
  return `seq >= ${integerLiteral(from)} AND seq < ${integerLiteral(to)}`;
}
