/** Reads charts out of their copy; on a thread, since anyone who reads from a disk may wait for it. */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { storeLimits } from "../../base/config/limits.ts";
import { chartLevelOf } from "./chart-database.ts";
import type { ChartOrder, ChartRange } from "./chart-reader.ts";
import { packCandles, unpackCandles } from "./pack-candles.ts";
import { sumUpCandles } from "./sum-up-candles.ts";

/** A row: the start of the first candle, unix seconds, how many they are, and all of them. */
type IntervalRow = readonly [start: number, count: number, candles: Uint8Array];

/** A statement for each order. */
type Reads = Readonly<Record<ChartOrder, StatementSync>>;

/** The copy, opened when it is read for the first time. Throws what SQLite does. */
export class ChartsReader {
  readonly #path: string;
  #open: { readonly sql: DatabaseSync; readonly reads: Reads } | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** By token the packed buckets, rising: those asked for, and maybe some more before and behind them. */
  read({ tokenIds, ...range }: ChartRange): readonly Uint8Array<ArrayBuffer>[] {
    this.#open ??= openReading(this.#path);
    const { reads } = this.#open;
    return tokenIds.map((tokenId) => {
      const token = Buffer.from(tokenId.slice(2), "hex");
      // In memory of its own, that can be handed over.
      return new Uint8Array(readBuckets(reads, token, range));
    });
  }

  /** What is read next is read of the file that has the name then. */
  close(): void {
    this.#open?.sql.close();
    this.#open = null;
  }
}

function openReading(path: string): { readonly sql: DatabaseSync; readonly reads: Reads } {
  const sql = new DatabaseSync(path, { readOnly: true, timeout: storeLimits.marketsLockedMs });
  try {
    sql.exec("PRAGMA cache_size = -16384");
    return { sql, reads: prepareReads(sql) };
  } catch (thrown) {
    sql.close();
    throw thrown;
  }
}

/** The ranges with the first buckets in the order asked for. */
function readBuckets(
  reads: Reads,
  token: Buffer,
  { bucketSeconds, from, to, order, limit }: Omit<ChartRange, "tokenIds">,
): Buffer {
  const level = chartLevelOf(bucketSeconds);
  const place = { token, level, to };
  const found: Uint8Array[] = [];
  let missing = limit;
  const rows = reads[order].iterate(order === "asc" ? { ...place, from } : place);
  for (const [start, count, packed] of rows as Iterable<IntervalRow>) {
    // The first one may have candles that lie beyond the end asked for.
    if (found.length > 0 && level === bucketSeconds) {
      found.push(packed);
      missing -= count;
    } else {
      const buckets = sumUpCandles(unpackCandles(packed), bucketSeconds).filter(
        ({ bucket }) => bucket >= from && bucket < to,
      );
      found.push(packCandles(buckets));
      missing -= buckets.length;
    }
    if (missing <= 0 || (order === "desc" && start <= from)) break;
  }
  return Buffer.concat(order === "asc" ? found : found.toReversed());
}

function prepareReads(sql: DatabaseSync): Reads {
  const prepare = (condition: string, order: "ASC" | "DESC"): StatementSync => {
    const statement = sql.prepare(
      `SELECT start, count, candles FROM ranges
       WHERE token = :token AND level = :level AND start < :to ${condition} ORDER BY start ${order}`,
    );
    statement.setReturnArrays(true);
    return statement;
  };
  // The range with the first candle asked for may begin before it.
  const asc = `AND start >= coalesce((SELECT max(start) FROM ranges
    WHERE token = :token AND level = :level AND start <= :from), :from)`;
  return { asc: prepare(asc, "ASC"), desc: prepare("", "DESC") };
}
