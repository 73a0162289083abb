/**
 * The far end of `store-reader.ts`: reads one thing after the other, on its own, since whoever reads from a disk
 * may wait for it. Nothing of the engine may be loaded here: it would end with the thread.
 */
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../base/assert.ts";
import { systemClock } from "../base/clock.ts";
import { toError } from "../base/errors.ts";
import { storeLimits } from "../base/limits.ts";
import { fillsByToken, minutesByToken, type PartLayout } from "./parts/part-layouts.ts";
import { PartShelf } from "./parts/part-shelf.ts";
import { PartRowsReader } from "./parts/read-part-rows.ts";
import { ChartDatabaseReader } from "./read-charts.ts";
import { sqliteCodeOf } from "./sqlite-code.ts";
import type {
  ChartRange,
  PartQuestion,
  ReaderAnswer,
  ReaderPaths,
  ReaderQuestion,
} from "./store-reader.ts";

const port = parentPort;
assert(port !== null, "this file is run as a thread");
const paths = workerData as ReaderPaths;
const charts = new ChartDatabaseReader(paths.charts);
const tables = {
  fills: readerOf("fills", fillsByToken),
  minute_candles: readerOf("minute_candles", minutesByToken),
} as const;

port.on("message", (question: ReaderQuestion | null) => {
  if (question === "charts are anew") return charts.close();
  if (question !== null) return answer(question);
  charts.close();
  for (const table of Object.values(tables)) table.close();
  port.close();
});

let askedAtMs = systemClock.monotonicMs();
tendTables();
setInterval(tendTables, storeLimits.partsTendedMs).unref();

/** Where nobody asks, as in a backfill, parts come and go by the second, and opening them would fill the memory. */
function tendTables(): void {
  const isAsked = systemClock.monotonicMs() < askedAtMs + storeLimits.partsKeptMs;
  for (const table of Object.values(tables))
    unlessUnreadable(() => (isAsked ? table.refresh() : table.letGo()));
}

function readerOf(table: string, layout: PartLayout): PartRowsReader {
  return new PartRowsReader(new PartShelf(join(paths.tables, table), layout));
}

function answer(question: Exclude<ReaderQuestion, string>): void {
  askedAtMs = systemClock.monotonicMs();
  const told = "charts" in question ? answerCharts(question) : answerRows(question);
  const buffers = told.found?.columns.map(({ buffer }) => buffer);
  port?.postMessage(told, [...new Set(buffers)]);
}

function answerCharts({ id, charts: range }: { id: number; charts: ChartRange }): ReaderAnswer {
  try {
    const columns = charts.read(range);
    return { id, found: { rows: columns.length, columns }, failure: null };
  } catch (thrown) {
    charts.close();
    // An error that is sent keeps no code.
    const { message } = toError(thrown);
    return { id, found: null, failure: { message, sqliteCode: sqliteCodeOf(thrown) } };
  }
}

function answerRows({ id, rows }: { id: number; rows: PartQuestion }): ReaderAnswer {
  const { table, tokenId, ...choice } = rows;
  const token = Buffer.from(tokenId.slice(2), "hex");
  const found = unlessUnreadable(() => tables[table].read({ ...choice, token }));
  return { id, found: found ?? null, failure: null };
}

/** Whatever it is that cannot be read, the engine is asked next, and can tell. */
function unlessUnreadable<Found>(read: () => Found): Found | null {
  try {
    return read();
  } catch {
    return null;
  }
}
