import type { Seq, TokenId } from "../base/ids.ts";
import type { DayTrade } from "../market/day-trade.ts";
import type { Engine } from "./engine.ts";
import { enumCodes } from "./schema.ts";
import { integerLiteral } from "./sql-literal.ts";

/** Rows read at once: the next ones come while these are taken in. */
const pageRows = 100_000;

/** Bytes of a row: two numbers, an id, two decimals and a word. */
const rowBytes = 8 + 4 + 32 + 16 + 16 + 1;

/**
 * The trades from a position or a time on, in chain order, page by page. Some hundred thousand are
 * read at every start, so they come in binary: a tenth of the time of text.
 */
export async function* readDayTrades(
  engine: Engine,
  from: { readonly seq: Seq } | { readonly timestamp: number },
): AsyncGenerator<readonly DayTrade[], void, undefined> {
  const since =
    "seq" in from
      ? `seq >= ${integerLiteral(from.seq)}`
      : `timestamp >= ${integerLiteral(from.timestamp)}`;
  const tokenIds = new Map<string, TokenId>();
  let page = readPage(engine, since);
  for (;;) {
    const rows = await page;
    const count = rows.length / rowBytes;
    const isLast = count < pageRows;
    if (!isLast) {
      const last = Number(rows.readBigUInt64LE(rows.length - rowBytes));
      page = readPage(engine, `${since} AND seq > ${integerLiteral(last)}`);
      // It is awaited after these are taken in; until then nobody else looks at its failure.
      page.catch(() => {});
    }
    yield Array.from({ length: count }, (_, index) => parseRow(rows, index * rowBytes, tokenIds));
    if (isLast) return;
  }
}

async function readPage(engine: Engine, where: string): Promise<Buffer> {
  return engine.queryBinary(
    `SELECT seq, timestamp, token_id, size, value, side FROM oddwire.fills
     WHERE role != 'taker' AND ${where} ORDER BY seq LIMIT ${pageRows}`,
  );
}

/** `tokenIds` are those met so far, by their bytes: there are far fewer of them than trades. */
function parseRow(rows: Buffer, at: number, tokenIds: Map<string, TokenId>): DayTrade {
  const bytes = rows.toString("latin1", at + 12, at + 44);
  let tokenId = tokenIds.get(bytes);
  if (tokenId === undefined) {
    tokenId = `0x${rows.toString("hex", at + 12, at + 44)}` as TokenId;
    tokenIds.set(bytes, tokenId);
  }
  return {
    seq: (rows.readUInt32LE(at) + rows.readUInt32LE(at + 4) * 2 ** 32) as Seq,
    timestamp: rows.readUInt32LE(at + 8),
    tokenId,
    size: readMicros(rows, at + 44),
    value: readMicros(rows, at + 60),
    isBuy: rows[at + 76] === enumCodes.side.BUY,
  };
}

/** A `Decimal(38, 6)`: 128 bits, of which nearly always the lowest 64 say it all. */
function readMicros(rows: Buffer, at: number): bigint {
  const [low, high] = [rows.readBigUInt64LE(at), rows.readBigInt64LE(at + 8)];
  return high === 0n ? low : (high << 64n) + low;
}
