import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { extname } from "node:path";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { fileFormats } from "../../api/bulk/bulk-format.ts";
import { AppError } from "../../base/errors.ts";
import { systemClock } from "../../base/time/clock.ts";
import { type Command, exitCodes, UsageError, type Words } from "../command.ts";
import { signalToStop } from "../service/await-signal.ts";
import { apiOptions, readApi } from "./api-options.ts";
import { downloadFile } from "./download-file.ts";
import { exportMarkets } from "./export-markets.ts";

/** Options that are parameters of the list, by the name of the parameter. */
const filters = {
  token: { name: "token_id", value: "ID", description: "Of this token; required for candles" },
  condition: { name: "condition_id", value: "ID", description: "Of this market" },
  wallet: { name: "wallet", value: "ADDRESS", description: "Of this wallet" },
  start: { name: "start", value: "TIME", description: "From this time on" },
  end: { name: "end", value: "TIME", description: "Before this time" },
  "from-block": { name: "from_block", value: "N", description: "From this block on" },
  "to-block": { name: "to_block", value: "N", description: "Up to this block" },
  "after-seq": { name: "after_seq", value: "SEQ", description: "Behind this position" },
  status: {
    name: "status",
    value: "STATUS",
    choices: ["confirmed", "finalized"],
    description: "Rows that no fork can revert, or all (default finalized; not of candles)",
  },
  resolution: {
    name: "resolution",
    value: "SPAN",
    choices: ["1m", "5m", "15m", "1h", "4h", "1d"],
    description: "Of candles (default 1h)",
  },
};

/** Lists of what stands somewhere on the chain, by the last part of their path. */
const rowLists = [
  "trades",
  "fills",
  "matches",
  "cancellations",
  "exchange-events",
  "resolutions",
] as const;

/** Where an export stands; there is no cursor before its first file. */
type SyncStatus = { readonly files: number; readonly cursor: string | null };

/** The same between two files, as it is written down. */
const writtenStanding = Type.Object({
  query: Type.String(),
  files: Type.Integer({ minimum: 1 }),
  cursor: Type.String(),
});
type WrittenStanding = Static<typeof writtenStanding>;

/** Writes lists of a running service to files. */
export const exportList: Command = {
  name: "export",
  summary: "Write a list of a service to files, oldest first",
  details: `What the service gives at the same time becomes one file; if there is more, PATH.2, PATH.3 and so on follow,
numbered before the ending. A file has its name once it is whole. What breaks off is tried again;
the same command goes on behind the last whole file. Filters that a list does not have are refused.
Markets are written as one file of ndjson, without filters.`,
  argument: { name: "LIST", choices: ["markets", ...rowLists, "candles"] },
  options: {
    out: { value: "PATH", description: `Ends in ${Object.keys(fileFormats).join(", ")}` },
    ...filters,
    ...apiOptions,
  },
  examples: [
    "oddwire export trades --out trades.parquet --key-file ./key",
    "oddwire export trades --start 2026-11-01T00:00:00Z --out november.csv --key-file ./key",
    "oddwire export markets --out markets.ndjson --key-file ./key",
    "oddwire export resolutions --out resolutions.csv --key-file ./key",
    "oddwire export candles --token 5292...5859 --resolution 1m --out candles.ndjson --key-file ./key",
  ],
  run: async (words) => {
    const out = words.text("out");
    if (out === null) throw new UsageError("--out is required");
    const { url, key } = readApi(words);
    if (words.argument === "markets") {
      refuseFilters(words, out);
      let rows = 0;
      await exportMarkets({ url, key, out, onRows: (count) => (rows += count) });
      process.stderr.write(`${out}  ${rows} rows\n`);
      return exitCodes.done;
    }
    const list = new URL(url.replace(/\/$/, "") + listPath(words, formatOf(out)));
    await writeFiles({ list, key, out });
    return exitCodes.done;
  },
};

function refuseFilters(words: Words, out: string): void {
  if (formatOf(out) !== "ndjson") throw new UsageError("--out of markets ends in .ndjson");
  const given = Object.keys(filters).find((name) => words.text(name) !== null);
  if (given !== undefined) throw new UsageError(`markets have no --${given}`);
}

function formatOf(out: string): string {
  const format = extname(out).slice(1);
  if (Object.hasOwn(fileFormats, format)) return format;
  throw new UsageError(`--out ends in one of .${Object.keys(fileFormats).join(", .")}`);
}

function listPath(words: Words, format: string): string {
  const list = rowLists.find((name) => name === words.argument);
  const query = new URLSearchParams({ format, order: "asc" });
  if (list !== undefined) query.set("status", "finalized");
  for (const [option, { name }] of Object.entries(filters)) {
    const text = words.text(option);
    if (text !== null && (list !== undefined || option !== "token")) query.set(name, text);
  }
  if (list !== undefined) return `/v1/${list}?${query.toString()}`;
  const token = words.text("token");
  if (token === null) throw new UsageError("candles need --token");
  // With a start pages lead forward.
  if (!query.has("start")) query.set("start", "0");
  return `/v1/candles/${encodeURIComponent(token)}?${query.toString()}`;
}

async function writeFiles({ list, key, out }: { list: URL; key: string; out: string }) {
  const standingPath = `${out}.unfinished`;
  let { files, cursor } = readStanding(standingPath, list, out);
  const signal = signalToStop();
  const progress = new Progress(process.stderr);
  do {
    const url = new URL(list);
    if (cursor !== null) url.searchParams.set("cursor", cursor);
    const path = nameOf(out, files + 1);
    const onBytes = (count: number) => progress.add(path, count);
    const { rowCount, nextCursor } = await downloadFile({ url, key, path, signal, onBytes });
    progress.end(path, rowCount);
    cursor = nextCursor;
    files += 1;
    if (cursor !== null) writeStanding(standingPath, { query: list.href, files, cursor });
  } while (cursor !== null);
  rmSync(standingPath, { force: true });
}

/** Throws `AppError` rather than writing over a file, or mixing two exports. */
function readStanding(path: string, list: URL, out: string): SyncStatus {
  const query = list.href;
  if (existsSync(path)) {
    const standing = parseStanding(readFileSync(path, "utf8"));
    if (standing === null)
      throw conflict(`${path} is damaged: delete it and the files of that export`);
    if (standing.query === query) return standing;
    throw conflict(
      `${path} belongs to a different export: finish that one first, or delete the file`,
    );
  }
  if (existsSync(out)) throw conflict(`${out} exists already`);
  return { files: 0, cursor: null };
}

function conflict(publicMessage: string): AppError {
  return new AppError("CONFLICT", { publicMessage });
}

function parseStanding(text: string): WrittenStanding | null {
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(writtenStanding, value) ? value : null;
  } catch {
    return null;
  }
}

/** In the place of what stood there only once it is whole. */
function writeStanding(path: string, standing: WrittenStanding): void {
  const next = `${path}.next`;
  writeFileSync(next, JSON.stringify(standing), { flush: true });
  renameSync(next, path);
}

function nameOf(out: string, number: number): string {
  const ending = extname(out);
  return number === 1 ? out : `${out.slice(0, -ending.length)}.${number}${ending}`;
}

const showEveryMs = 200;

/** A line that is written over on a terminal; one line for each whole file. */
class Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #startedAtMs = systemClock.monotonicMs();
  #shownAtMs = 0;
  #fileBytes = 0;
  #bytes = 0;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  add(path: string, count: number): void {
    this.#fileBytes += count;
    this.#bytes += count;
    const nowMs = systemClock.monotonicMs();
    if (!this.#stream.isTTY || nowMs - this.#shownAtMs < showEveryMs) return;
    this.#shownAtMs = nowMs;
    const perSecond = (this.#bytes / (nowMs - this.#startedAtMs)) * 1000;
    this.#stream.write(`\r\u001b[K${path}  ${size(this.#fileBytes)}  ${size(perSecond)}/s`);
  }

  end(path: string, rowCount: number | null): void {
    const rows = rowCount === null ? "" : `  ${rowCount} rows`;
    const start = this.#stream.isTTY ? "\r\u001b[K" : "";
    this.#stream.write(`${start}${path}${rows}  ${size(this.#fileBytes)}\n`);
    this.#fileBytes = 0;
  }
}

function size(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
