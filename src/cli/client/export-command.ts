import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { Option } from "commander";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { OddwireClient } from "../../../clients/typescript/src/client.ts";
import { Connection } from "../../../clients/typescript/src/connection.ts";
import type { FileFormat } from "../../../clients/typescript/src/list-file.ts";
import { AppError } from "../../base/errors.ts";
import { tryParseJson } from "../../base/json.ts";
import { systemClock } from "../../base/time/clock.ts";
import { exitCodes, UsageError } from "../command.ts";
import type { LakeOptions } from "../lake/export-lake-command.ts";
import { signalToStop } from "../service/await-signal.ts";
import { type ApiAccess, type ApiOptions, readApi } from "./api-options.ts";
import { callService } from "./call-service.ts";
import { downloadFile } from "./download-file.ts";
import { DownloadProgress } from "./download-progress.ts";
import { exportFilters, fileEndings, fileFormats, rowLists } from "./export-options.ts";

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
  if (options.lake !== undefined) {
    if (name !== undefined || options.out !== undefined) {
      throw new UsageError("--lake exports whole days: give it without a list and --out");
    }
    return (await import("../lake/export-lake-command.ts")).exportLakeCommand(options);
  }
  const { out } = options;
  if (name === undefined) throw new UsageError("name a list to export, or use --lake");
  if (out === undefined) throw new UsageError("--out is required: the file to write");
  const api = readApi(options);
  const common = { format: getFormat(out), order: "asc" } as const;
  const filters = getFilters(options);
  const signal = signalToStop();
  // Mistakes in the options are reported before the service is called.
  getList(name, common, filters);
  await callService(async () => {
    const list = getList(name, common, await resolveMarket(filters, api));
    await writeFiles({ api, list, out, signal });
  }, signal);
  // When aborted: the same command resumes after the last complete file.
  return signal.aborted ? exitCodes.tryAgain : exitCodes.done;
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
function getList(name: string, common: FileQuery, filters: Filters): List {
  const path = `/v1/${name}`;
  if (name === "markets" || name === "events")
    return { path, query: { ...common, sort: "created_at", ...filters } };
  if (rowLists.some((list) => list === name))
    return { path, query: { ...common, status: "finalized", ...filters } };
  if (name === "positions" || name === "activity") return getWalletList(name, common, filters);
  // With a start time, pages of buckets go forward in time.
  const start = filters["start"] ?? "0";
  if (name === "stats") return { path, query: { ...common, ...filters, start } };
  const { token_id: token, ...rest } = filters;
  if (token === undefined) throw new UsageError("candles need --token");
  const query = { ...common, ...rest, start };
  return { path: `/v1/candles/${encodeURIComponent(token)}`, query };
}

/** By default exports all positions, also closed ones, and the final activity. */
function getWalletList(name: "positions" | "activity", common: FileQuery, filters: Filters): List {
  const { wallet, ...rest } = filters;
  if (wallet === undefined) throw new UsageError(`${name} need --wallet`);
  const status = name === "positions" ? "all" : "finalized";
  const path = `/v1/wallets/${encodeURIComponent(wallet)}/${name}`;
  return { path, query: { ...common, status, ...rest } };
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
