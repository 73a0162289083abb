/**
 * Writes final days as Parquet files (docs/lake.md). A day is written once its last block is final. Files get their name
 * only when all files of the day are complete, and the manifest names them after that: a crash leaves the lake as it was.
 */
import { createHash, type KeyObject } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { parquetMetadata } from "hyparquet";
import type { TokenId } from "../base/ids.ts";
import { settleAll } from "../base/time/settle-all.ts";
import type { BlockRange, Coverage } from "../chain/raw-log.ts";
import { lockFolder } from "../storage/directory/data-directory.ts";
import type { FactsIdentity } from "../storage/directory/identity.ts";
import type { Engine } from "../storage/engine/engine.ts";
import { awaitWrite } from "../storage/engine/store-errors.ts";
import {
  encodeCandleFile,
  encodeFactFile,
  encodeTradeFile,
  type FilledBlock,
  type LakeToken,
  readFilledBlocks,
  readFirstTime,
} from "../storage/lake/lake-parts.ts";
import { lakeFactTables } from "../storage/lake/lake-tables.ts";
import { LakeError } from "./lake-error.ts";
import {
  formatManifest,
  type LakeFile,
  type LakeSlice,
  layoutVersion,
  type Manifest,
  manifestName,
  parseManifest,
} from "./manifest.ts";

export type LakeExport = {
  /** The folder of the lake, created if missing. */
  readonly folder: string;
  readonly engine: Engine;
  readonly coverage: Coverage;
  readonly identity: FactsIdentity;
  /** Returns a row of `tokenColumns`: what is known about a token. */
  readonly getToken: (tokenId: TokenId) => LakeToken;
  /** Encodes `markets/snapshot.parquet`; returns the file and its number of rows. */
  readonly encodeMarkets: () => Promise<{ readonly bytes: Uint8Array; readonly rows: number }>;
  /** A private key (Ed25519), also as PEM. */
  readonly signKey: KeyObject | string | null;
  /** The days to export, as YYYY-MM-DD, both inclusive; all final days by default. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** How many tables are encoded at the same time: 1 by default, which leaves a core to a service. */
  readonly tablesAtOnce?: number;
  /** Facts of one part, about; a test has smaller ones. */
  readonly partRows?: number;
  readonly signal?: AbortSignal;
  readonly onDay?: (day: { readonly date: string; readonly rows: number }) => void;
};

/** Facts of one part. A part is one row group, and one append when it is imported. */
const usualPartRows = 131_072;
const daySeconds = 86_400;
/** What messages call the folder. */
const place = "the lake";

/**
 * Adds all final days that the lake does not have. Returns the manifest. Throws `LakeError`, `DataDirectoryBusyError` while
 * another process exports to the folder, and `DataDirectoryUnwritableError`.
 */
export async function exportLake(request: LakeExport): Promise<Manifest> {
  const { folder } = request;
  await awaitWrite(mkdir(folder, { recursive: true }), place);
  const busy = `another process exports to ${folder}; wait until it has finished`;
  const unlock = lockFolder(folder, { variable: "--lake", busy, location: place });
  try {
    return await exportDays(request);
  } finally {
    unlock();
  }
}

async function exportDays(request: LakeExport): Promise<Manifest> {
  let manifest = await readExisting(request);
  const before = manifest;
  for (let day = await firstDay(request, manifest); day !== null; ) {
    request.signal?.throwIfAborted();
    const slices = await exportDay(request, { day, manifest });
    manifest = addSlices(request, manifest, slices);
    if (manifest !== null) await writeManifest(request, manifest);
    day = nextDay(request, day);
  }
  if (manifest === null) {
    const { timestamp } = request.coverage.last;
    throw new LakeError(
      `there is no final day to export yet: the newest final block is of ${new Date(timestamp * 1000).toISOString()}, and a day is exported once a block of the next day is final`,
    );
  }
  return manifest === before ? manifest : exportMarkets(request, manifest);
}

/** Reads the manifest of an earlier export. Throws `LakeError` when the lake is of other facts. */
async function readExisting({ folder, identity, coverage }: LakeExport): Promise<Manifest | null> {
  const text = await readFile(join(folder, manifestName), "utf8").catch((thrown: unknown) => {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw thrown;
  });
  if (text === null) return null;
  const manifest = parseManifest(text);
  const { chain_id: chain, contracts, events } = manifest;
  if (
    chain !== identity.chain_id ||
    contracts !== identity.contracts ||
    events !== identity.events
  ) {
    throw new LakeError(
      `${folder} holds the lake of another chain, other contracts or another version`,
    );
  }
  if (manifest.last_block.number + 1 < coverage.fromBlock) {
    throw new LakeError(
      `${folder} ends at block ${manifest.last_block.number}, and what is stored begins at block ${coverage.fromBlock}`,
    );
  }
  return manifest;
}

/** Returns the start of the first day to export, in Unix seconds; `null` when no final day is left. */
async function firstDay(request: LakeExport, manifest: Manifest | null): Promise<number | null> {
  const { coverage, engine, from } = request;
  const start = (manifest?.last_block.number ?? coverage.fromBlock - 1) + 1;
  if (start > coverage.last.number) return null;
  const first = await readFirstTime(engine, { from: start, to: coverage.last.number });
  if (first === null) return null;
  const requested = from === undefined || manifest !== null ? 0 : Date.parse(from) / 1000;
  const day = Math.max(first - (first % daySeconds), requested);
  return isFinal(request, day) ? day : null;
}

function nextDay(request: LakeExport, day: number): number | null {
  const next = day + daySeconds;
  return isFinal(request, next) ? next : null;
}

/** Whether a block after the day is final, so that the day is complete. */
function isFinal({ coverage, to }: LakeExport, day: number): boolean {
  const isRequested = to === undefined || day <= Date.parse(to) / 1000;
  return isRequested && coverage.last.timestamp >= day + daySeconds;
}

async function exportDay(
  request: LakeExport,
  { day, manifest }: { readonly day: number; readonly manifest: Manifest | null },
): Promise<readonly LakeSlice[]> {
  const { engine, coverage } = request;
  const date = new Date(day * 1000).toISOString().slice(0, 10);
  const after = manifest?.last_block.number ?? null;
  // A repair can have added facts behind the last ones that the day had.
  const earlier = (manifest?.slices ?? []).filter((one) => one.date === date);
  const kept = earlier.flatMap(({ files }) => Object.values(files).map(({ path }) => path));
  const range = { from: (after ?? coverage.fromBlock - 1) + 1, to: coverage.last.number };
  const blocks = await readFilledBlocks(engine, range, { since: day, until: day + daySeconds });
  const slices: LakeSlice[] = [];
  const paths: string[] = [];
  // A lake that does not begin with the store begins with the first block of its first day that has facts.
  let from = after === null && request.from !== undefined ? (blocks[0]?.number ?? 0) : range.from;
  try {
    for (const part of splitBlocks(blocks, request.partRows ?? usualPartRows)) {
      request.signal?.throwIfAborted();
      const last = part.at(-1);
      if (last === undefined) continue;
      const name = `date=${date}/part-${earlier.length + slices.length}.parquet`;
      const files = await writeTables(request, { range: { from, to: last.number }, name });
      paths.push(...Object.values(files).map(({ path }) => path));
      const { number, hash, timestamp } = last;
      slices.push({ date, from_block: from, last_block: { number, hash, timestamp }, files });
      from = last.number + 1;
    }
    for (const path of paths) await publish(request.folder, path);
  } catch (thrown) {
    // A disk that is full needs the room.
    await removeOthers(request.folder, { date, kept });
    throw thrown;
  }
  await removeOthers(request.folder, { date, kept: [...kept, ...paths] });
  request.onDay?.({ date, rows: blocks.reduce((sum, { rows }) => sum + rows, 0) });
  return slices;
}

/** Writes the drafts of a part: a file of each table that has rows. */
async function writeTables(
  request: LakeExport,
  { range, name }: { readonly range: BlockRange; readonly name: string },
): Promise<Readonly<Record<string, LakeFile>>> {
  const files: Record<string, LakeFile> = {};
  const encoders = getEncoders(request, range);
  const left = encoders.entries();
  const write = async (): Promise<void> => {
    for (const [table, encode] of left) {
      const bytes = await encode();
      const footer = bytes === null ? null : readFooter(bytes);
      if (bytes === null || footer === null || footer.rows === 0) continue;
      const path = `${table}/${name}`;
      files[table] = { path, ...footer, ...(await writeDraft(request.folder, path, bytes)) };
    }
  };
  await settleAll(Array.from({ length: request.tablesAtOnce ?? 1 }, write));
  return Object.fromEntries(
    [...encoders.keys()].flatMap((table) => {
      const file = files[table];
      return file === undefined ? [] : [[table, file]];
    }),
  );
}

/** Splits blocks into parts of at most `partRows` rows, or one block. */
function* splitBlocks(
  blocks: readonly FilledBlock[],
  partRows: number,
): Generator<readonly FilledBlock[]> {
  let part: FilledBlock[] = [];
  let rows = 0;
  for (const block of blocks) {
    if (part.length > 0 && rows + block.rows > partRows) {
      yield part;
      part = [];
      rows = 0;
    }
    part.push(block);
    rows += block.rows;
  }
  if (part.length > 0) yield part;
}

/** Returns what encodes the file of each table; those that take longest first. */
function getEncoders(
  { engine, getToken }: LakeExport,
  range: BlockRange,
): ReadonlyMap<string, () => Promise<Buffer | null>> {
  return new Map([
    ["trades", () => encodeTradeFile(engine, range, getToken)],
    ...lakeFactTables.map((table) => [table, () => encodeFactFile(engine, table, range)] as const),
    ["candles_1m", () => encodeCandleFile(engine, range)],
  ]);
}

/** Reads the number of rows and the bounds of `seq` from the end of a Parquet file. */
function readFooter(file: Uint8Array): Pick<LakeFile, "rows" | "first_seq" | "last_seq"> {
  const { buffer, byteOffset, byteLength } = file;
  const copy = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
  const { num_rows: rows, row_groups: groups } = parquetMetadata(copy);
  const statistics = groups.map(({ columns }) => {
    const seq = columns.find(({ meta_data: about }) => about?.path_in_schema[0] === "seq");
    return seq?.meta_data?.statistics;
  });
  const [first, last] = [statistics[0]?.min_value, statistics.at(-1)?.max_value];
  return {
    rows: Number(rows),
    first_seq: first === undefined ? null : Number(first),
    last_seq: last === undefined ? null : Number(last),
  };
}

/** Writes a file durably under the name of a draft. Returns its size and hash. */
async function writeDraft(
  folder: string,
  path: string,
  bytes: Uint8Array,
): Promise<Pick<LakeFile, "bytes" | "sha256">> {
  const target = join(folder, path);
  await awaitWrite(mkdir(dirname(target), { recursive: true }), place);
  const hash = createHash("sha256");
  const file = await awaitWrite(open(`${target}.draft`, "w"), place);
  try {
    // In pieces, so that requests of a service that exports have their turn.
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const piece = bytes.subarray(at, at + pieceBytes);
      hash.update(piece);
      await awaitWrite(file.writeFile(piece), place);
      await turn();
    }
    await awaitWrite(file.sync(), place);
  } catch (thrown) {
    await rm(`${target}.draft`, { force: true });
    throw thrown;
  } finally {
    await file.close();
  }
  return { bytes: bytes.length, sha256: hash.digest("hex") };
}

const pieceBytes = 1024 * 1024;

/** Removes what an export that was interrupted has left of a day: readers take every file of a folder. */
async function removeOthers(
  folder: string,
  { date, kept }: { readonly date: string; readonly kept: readonly string[] },
): Promise<void> {
  for (const table of [...lakeFactTables, "trades", "candles_1m"]) {
    const day = `${table}/date=${date}`;
    const found = await readdir(join(folder, day)).catch(() => []);
    const others = found.map((name) => `${day}/${name}`).filter((path) => !kept.includes(path));
    for (const path of others) await rm(join(folder, path), { force: true });
  }
}

async function publish(folder: string, path: string): Promise<void> {
  await awaitWrite(rename(join(folder, `${path}.draft`), join(folder, path)), place);
}

function addSlices(
  { identity, coverage, from }: LakeExport,
  manifest: Manifest | null,
  slices: readonly LakeSlice[],
): Manifest | null {
  const all = [...(manifest?.slices ?? []), ...slices];
  const [first, last] = [all[0], all.at(-1)];
  if (first === undefined || last === undefined) return manifest;
  const start =
    manifest?.first_block ?? (from === undefined ? coverage.fromBlock : first.from_block);
  return {
    layout: layoutVersion,
    created_by: "oddwire",
    chain_id: identity.chain_id,
    contracts: identity.contracts,
    events: identity.events,
    first_block: start,
    last_block: last.last_block,
    slices: all,
    markets: manifest?.markets ?? null,
  };
}

async function writeManifest({ folder, signKey }: LakeExport, manifest: Manifest): Promise<void> {
  const text = Buffer.from(formatManifest(manifest, signKey));
  await writeDraft(folder, manifestName, text);
  await publish(folder, manifestName);
}

/** Replaces the snapshot of the markets. Between its steps the manifest names no snapshot, and never a wrong one. */
async function exportMarkets(request: LakeExport, manifest: Manifest): Promise<Manifest> {
  const path = "markets/snapshot.parquet";
  const { bytes, rows } = await request.encodeMarkets();
  const written = await writeDraft(request.folder, path, bytes);
  if (manifest.markets !== null) await writeManifest(request, { ...manifest, markets: null });
  await publish(request.folder, path);
  const markets = { path, rows, first_seq: null, last_seq: null, ...written };
  const complete = { ...manifest, markets };
  await writeManifest(request, complete);
  return complete;
}
