import {
  createWriteStream,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { rename } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Option } from "commander";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { type Backoff, wait, waitAfter } from "../../../clients/typescript/src/backoff.ts";
import { OddwireClient } from "../../../clients/typescript/src/client.ts";
import { Connection, type Query } from "../../../clients/typescript/src/connection.ts";
import { type FileFormat, openListFile } from "../../../clients/typescript/src/list-file.ts";
import { OddwireError } from "../../../clients/typescript/src/oddwire-error.ts";
import { AppError } from "../../base/errors.ts";
import { tryParseJson } from "../../base/json.ts";
import { systemClock } from "../../base/time/clock.ts";
import { CommandError, exitCodes, UsageError } from "../command.ts";
import type { LakeOptions } from "../lake/export-lake-command.ts";
import { signalToStop } from "../service/await-signal.ts";
import { type ApiAccess, type ApiOptions, readApi } from "./api-options.ts";
import { callService } from "./call-service.ts";
import { DownloadProgress } from "./download-progress.ts";
import {
  exportFilters,
  fileEndings,
  fileFormats,
  marketLists,
  rowLists,
  walletLists,
} from "./export-options.ts";

type ExportOptions = ApiOptions & LakeOptions & { readonly out?: string };

type List = { readonly path: string; readonly query: FileQuery };
type FileQuery = Filters & { readonly format: FileFormat };
type Filters = Readonly<Record<string, string>>;

type Export = {
  readonly api: ApiAccess;
  readonly list: List;
  readonly out: string;
  readonly signal: AbortSignal;
};

/** The progress of an export: the complete files, and the cursor of the next; `null` before the first file. */
type ExportState = { readonly files: number; readonly cursor: string | null };

/** The progress between two files, as it is saved to resume an export. */
const savedState = Type.Object({
  query: Type.String(),
  files: Type.Integer({ minimum: 1 }),
  cursor: Type.String(),
});
type SavedState = Static<typeof savedState>;

/** Writes a list of a running service to files, or final days to a lake. */
export async function exportList(
  name: string | undefined,
  options: ExportOptions,
): Promise<number> {
  const isLake = options.lake !== undefined;
  if (isLake && name !== undefined)
    throw new UsageError("--lake exports whole days: give it without a list");
  refuseOtherOptions(Object.keys(options), isLake);
  if (isLake) {
    return (await import("../lake/export-lake-command.ts")).exportLakeCommand(options);
  }
  const { out } = options;
  if (name === undefined) throw new UsageError("name a list to export, or use --lake");
  if (out === undefined) throw new UsageError("--out is required: the file to write");
  const api = readApi(options);
  const format = getFormat(out);
  const filters = getFilters(options);
  const signal = signalToStop();
  // Mistakes in the options are reported before the service is called.
  getList(name, format, filters);
  await callService(async () => {
    const list = getList(name, format, await resolveMarket(filters, api));
    await writeFiles({ api, list, out, signal });
  }, signal);
  // When aborted: the same command resumes after the last complete file.
  return signal.aborted ? exitCodes.tryAgain : exitCodes.done;
}

const lakeOptions: ReadonlySet<string> = new Set(["lake", "from", "to", "signKey", "dataDir"]);

function refuseOtherOptions(names: readonly string[], isLake: boolean): void {
  const other = names.find((name) => lakeOptions.has(name) !== isLake);
  if (other === undefined) return;
  const flag = `--${other.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  throw new UsageError(
    isLake ? `--lake exports whole days: give it without ${flag}` : `${flag} needs --lake`,
  );
}

function getFilters(
  options: ExportOptions & Readonly<Record<string, string | undefined>>,
): Filters {
  return Object.fromEntries(
    exportFilters.flatMap(([flags, parameter]) => {
      const text = options[new Option(flags).attributeName()];
      return text === undefined ? [] : [[parameter, text] as const];
    }),
  );
}

/** Replaces the token id or slug of a market by its condition id. */
async function resolveMarket(filters: Filters, api: ApiAccess): Promise<Filters> {
  const { condition_id: market } = filters;
  if (market === undefined) return filters;
  return { ...filters, condition_id: (await new OddwireClient(api).market(market)).id };
}

function getFormat(out: string): FileFormat {
  const format = fileFormats.find((name) => extname(out) === `.${name}`);
  if (format !== undefined) return format;
  throw new UsageError(`--out ends in one of ${fileEndings}`);
}

/** Returns the list of a name. Filters replace the parameters that every export has. */
function getList(name: string, format: FileFormat, filters: Filters): List {
  const path = `/v1/${name}`;
  const common = { format, order: "asc" } as const;
  if (name === "markets" || name === "events")
    return { path, query: { ...common, sort: "created_at", ...filters } };
  if (rowLists.some((list) => list === name))
    return { path, query: { ...common, status: "finalized", ...filters } };
  if (name in walletLists) {
    const query = { format, ...walletLists[name], ...filters };
    return getPart(query, "wallet", (wallet) => `/v1/wallets/${wallet}/${name}`);
  }
  if (name in marketLists) {
    const query = { format, ...marketLists[name], ...filters };
    if (name === "open-interest" && filters["condition_id"] === undefined) return { path, query };
    return getPart(query, "condition_id", (market) => `/v1/markets/${market}/${name}`);
  }
  // With a start time, pages of buckets go forward in time.
  const query = { ...common, start: "0", ...filters };
  if (name === "stats") return { path, query };
  return getPart(query, "token_id", (token) => `/v1/candles/${token}`);
}

/** Returns a list whose path has the value of a filter. */
function getPart(query: FileQuery, subject: string, toPath: (id: string) => string): List {
  const { [subject]: id, ...rest } = query as Filters;
  const [flags] = exportFilters.find(([, parameter]) => parameter === subject) ?? [];
  if (id === undefined) throw new UsageError(`this list needs ${flags}`);
  return { path: toPath(encodeURIComponent(id)), query: { ...rest, format: query.format } };
}

async function writeFiles({ api, list, out, signal }: Export): Promise<void> {
  const statePath = `${out}.unfinished`;
  for (const path of [statePath, `${statePath}.next`, `${out}.part`]) refuseOtherThanFile(path);
  const { href } = new Connection(api).getUrl(list.path, list.query);
  let { files, cursor } = readState(statePath, href, out);
  const progress = new DownloadProgress(process.stderr, systemClock);
  do {
    const query = { ...list.query, ...(cursor !== null && { cursor }) };
    const path = getName(out, files + 1);
    cursor = await downloadFile({ api, list: list.path, query, path, signal, progress });
    files += 1;
    if (cursor !== null) saveState(statePath, { query: href, files, cursor });
  } while (cursor !== null);
  rmSync(statePath, { force: true });
}

/** Throws `AppError` when a path exists and is not a file. To open a pipe would wait forever. */
function refuseOtherThanFile(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== false) return;
  throw new AppError("CONFLICT", `${path} is not a file; delete it or choose another --out`);
}

/** Reads the saved progress. Throws `AppError` when the export would overwrite a file or mix with another export. */
function readState(path: string, query: string, out: string): ExportState {
  if (existsSync(path)) {
    const state = parseState(readFileSync(path, "utf8"));
    if (state === null)
      throw new AppError("CONFLICT", `${path} is damaged: delete it and the files of that export`);
    if (state.query === query) return state;
    throw new AppError(
      "CONFLICT",
      `${path} belongs to a different export: finish that one first, or delete the file`,
    );
  }
  const existing = fileOfExport(out);
  if (existing !== undefined)
    throw new AppError("CONFLICT", `${existing} exists already; delete it or choose another --out`);
  return { files: 0, cursor: null };
}

/** Finds any file of an earlier export. It would be overwritten, or taken for a part of this one. */
function fileOfExport(out: string): string | undefined {
  const folder = dirname(out);
  // A missing folder is reported when the first file is written.
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const found = names.find((name) => {
    const number = Number(/\.([0-9]+)\.[a-z]+$/.exec(name)?.[1]);
    return name === basename(out) || name === basename(getName(out, number));
  });
  return found && join(folder, found);
}

function parseState(text: string): SavedState | null {
  const value = tryParseJson(text);
  return Value.Check(savedState, value) ? value : null;
}

/** Saves the progress: writes a new file, then renames it, so that the saved file is always complete. */
function saveState(path: string, state: SavedState): void {
  const next = `${path}.next`;
  writeFileSync(next, JSON.stringify(state), { flush: true });
  renameSync(next, path);
}

function getName(out: string, number: number): string {
  const ending = extname(out);
  return number === 1 ? out : `${out.slice(0, -ending.length)}.${number}${ending}`;
}

type Download = {
  readonly api: ApiAccess;
  readonly list: string;
  readonly query: Query & { readonly format: FileFormat };
  readonly path: string;
  readonly signal: AbortSignal;
  readonly progress: DownloadProgress;
};

const backoff: Backoff = { attempts: 4, firstWaitMs: 1000, longestWaitMs: 60_000 };
const once: Backoff = { ...backoff, attempts: 1 };

/**
 * Downloads a file, which is named `<path>.part` until it is complete. Returns the cursor of the next file;
 * `null` after the last. Retries 429, 5xx, and connections that fail or break off.
 */
async function downloadFile(download: Download): Promise<string | null> {
  const { api, signal } = download;
  const connection = new Connection({ ...api, backoff: once });
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await downloadOnce(connection, download);
    } catch (thrown) {
      signal.throwIfAborted();
      const waitMs = isPassing(thrown) ? waitAfter(attempt, thrown.retryAfterMs, backoff) : null;
      if (waitMs === null) throw thrown;
      await wait(waitMs, signal);
    }
  }
}

async function downloadOnce(connection: Connection, download: Download): Promise<string | null> {
  const { list, query, path, signal, progress } = download;
  const { rowCount, nextCursor, body, check } = await openListFile(connection, list, {
    query,
    signal,
  });
  progress.begin(path, rowCount, check);
  const counted = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      progress.add(chunk);
      done(null, chunk);
    },
  });
  const part = `${path}.part`;
  const file = createWriteStream(part, { flush: true });
  // A write error, such as a full disk, is not retried; a body that breaks off is.
  let writeError: Error | null = null;
  file.once("error", (error) => (writeError = error));
  await pipeline(Readable.fromWeb(body), counted, file, { signal }).catch((cause: unknown) => {
    if (cause instanceof OddwireError) throw cause;
    if (writeError === null)
      throw new OddwireError("the connection broke off", { status: 0, code: "UNREACHABLE", cause });
    throw new CommandError(`a file cannot be written: ${writeError.message}`, { cause });
  });
  await rename(part, path);
  progress.end();
  return nextCursor;
}

function isPassing(thrown: unknown): thrown is OddwireError {
  if (!(thrown instanceof OddwireError)) return false;
  return thrown.status === 0 || thrown.status === 429 || thrown.status >= 500;
}
