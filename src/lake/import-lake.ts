/**
 * Fills an empty store from a lake (docs/lake.md): another source of batches for the one append. Each part is one append,
 * so an import that is killed continues after the last part that was committed.
 */
import { createHash, type KeyObject } from "node:crypto";
import { closeOnError } from "../base/close-on-error.ts";
import { AppError, toError } from "../base/errors.ts";
import { type Hash, toFirstSeq, toLastSeq } from "../base/ids.ts";
import type { Coverage } from "../chain/raw-log.ts";
import type { Tally } from "../market/delta.ts";
import { AppendGroup } from "../storage/append/append-group.ts";
import type { FactStore } from "../storage/append/fact-store.ts";
import type { Engine, SelectedRows } from "../storage/engine/engine.ts";
import type { SpoolFile } from "../storage/engine/spool-file.ts";
import { DataDirectoryUnwritableError, getReason } from "../storage/engine/store-errors.ts";
import {
  dropFacts,
  type FactFile,
  type LoadedFacts,
  loadFactFile,
  readBounds,
  readEvents,
  readFileSize,
  readQuarantine,
  selectFacts,
} from "../storage/lake/lake-parts.ts";
import { type LakeFactTable, lakeFactTables } from "../storage/lake/lake-tables.ts";
import { type FactTable, walletTables } from "../storage/schema/fact-tables.ts";
import { isEventRow } from "./event-rows.ts";
import { LakeError } from "./lake-error.ts";
import {
  type LakeFile,
  type LakeSlice,
  type Manifest,
  manifestBytesMax,
  manifestName,
  parseManifest,
} from "./manifest.ts";

/** Where the files of a lake come from: a folder, or a server. Throws `LakeError`. */
export type LakeSource = {
  /** The name of the lake in messages. */
  readonly name: string;
  /** Yields the bytes of a file whose path was checked, at most `bytesMax`. */
  read(path: string, bytesMax: number): AsyncIterable<Uint8Array>;
};

export type LakeImport = {
  readonly source: LakeSource;
  readonly manifest: Manifest;
  readonly store: FactStore;
  /** The embedded engine, which reads the files: that of the store, or one of its own when the store is on a server. */
  readonly reader: Engine;
  readonly signal?: AbortSignal;
  readonly onPart?: (done: { readonly block: number; readonly rows: number }) => void;
};

/** Returns the parts that are not imported yet. Throws `LakeError` when the store has other facts. */
export function remainingSlices(
  { slices, first_block: first }: Manifest,
  coverage: Coverage | null,
): readonly LakeSlice[] {
  if (coverage === null) return slices;
  const { fromBlock, last } = coverage;
  const next = slices.findIndex(({ last_block: end }) => end.number === last.number) + 1;
  const isContinued = fromBlock === first && slices[next - 1]?.last_block.hash === last.hash;
  if (isContinued) return slices.slice(next);
  throw new LakeError(
    `the store is not empty: it has blocks ${fromBlock} to ${last.number}, which are not the beginning of this lake`,
  );
}

/** Imports the parts that are missing. Throws `LakeError`; what was committed before stays. */
export async function importLake(request: LakeImport): Promise<void> {
  const { manifest, store, signal } = request;
  if (manifest.markets !== null) await verifyFile(request, manifest.markets);
  let committing: Promise<void> = Promise.resolve();
  try {
    for (const slice of remainingSlices(manifest, store.coverage)) {
      signal?.throwIfAborted();
      const part = await readPart(request, slice);
      // One part is read while the one before it is appended.
      const before = committing;
      committing = append(request, part, before);
      committing.catch(() => {});
      await before;
    }
  } finally {
    await committing;
  }
}

async function append(
  { store, reader, onPart }: LakeImport,
  { group, loaded }: Part,
  before: Promise<void>,
): Promise<void> {
  try {
    await before;
    await store.writeFacts(group);
    await store.commit(group);
    for (const batch of group.batches) store.cover(batch);
    onPart?.({ block: group.range.to, rows: group.rows });
  } finally {
    await group.close();
    await dropAll(reader, loaded);
  }
}

/** A part as a group to append, and its rows, which the engine has in memory until then. */
type Part = { readonly group: AppendGroup; readonly loaded: readonly LoadedFacts[] };

async function readPart(request: LakeImport, slice: LakeSlice): Promise<Part> {
  const loaded: LoadedFacts[] = [];
  try {
    return { group: await readGroup(request, { slice, loaded }), loaded };
  } catch (thrown) {
    await dropAll(request.reader, loaded);
    throw thrown;
  }
}

async function dropAll(reader: Engine, loaded: readonly LoadedFacts[]): Promise<void> {
  for (const facts of loaded) await dropFacts(reader, facts);
}

const isImported = (table: string): boolean => lakeFactTables.some((one) => one === table);

async function readGroup(
  request: LakeImport,
  { slice, loaded }: { readonly slice: LakeSlice; readonly loaded: LoadedFacts[] },
): Promise<AppendGroup> {
  const { reader, store } = request;
  const selected = new Map<FactTable, SelectedRows>();
  let quarantined: Tally["quarantined"] = [];
  for (const table of lakeFactTables) {
    const entry = slice.files[table];
    if (entry === undefined) continue;
    const facts = await loadFile(request, { table, entry });
    loaded.push(facts);
    try {
      await refuseWrongRows(request, { slice, entry, facts });
    } catch (thrown) {
      throw toLakeError(thrown, `${request.source.name}: ${entry.path}`);
    }
    if (table === "quarantine") quarantined = await readQuarantine(reader, facts);
    for (const [into, rows] of selectFacts(reader, facts)) selected.set(into, rows);
  }
  for (const [table, entry] of Object.entries(slice.files)) {
    if (!isImported(table)) await verifyFile(request, entry);
  }
  const count = (table: LakeFactTable): number => slice.files[table]?.rows ?? 0;
  const tally = {
    fills: count("fills"),
    events: count("events"),
    ledger: count("ledger"),
    ledgerKinds: {},
    balances: count("balance_changes"),
    hours: [],
    quarantined,
    anomalies: [],
  };
  const { number, hash, timestamp } = slice.last_block;
  const last = { number, hash: hash as Hash, timestamp };
  const group = new AppendGroup(store.engine, selected);
  await group.add({ fromBlock: slice.from_block, last, rows: noRows, events: [], tally });
  return group;
}

const nothing = new Uint8Array();
const noRows = {
  fills: nothing,
  minuteCandles: nothing,
  events: nothing,
  quarantine: nothing,
  ledger: nothing,
  balances: nothing,
  supplies: nothing,
};

/** Copies a file to one that nothing else can change, and verifies it. */
async function fetchFile(request: LakeImport, file: LakeFile): Promise<SpoolFile> {
  const spooled = await request.reader.openRows();
  return closeOnError(spooled, async () => {
    for await (const piece of readVerified(request, file)) await spooled.append(piece);
    return spooled;
  });
}

/** Verifies a file of what is derived again, so that a lake is imported as a whole or not. */
async function verifyFile(request: LakeImport, file: LakeFile): Promise<void> {
  for await (const _piece of readVerified(request, file));
}

/** Yields the bytes of a file, and throws at its end if its size or hash is not that of the manifest. */
async function* readVerified({ source }: LakeImport, file: LakeFile): AsyncGenerator<Uint8Array> {
  const { path, bytes, sha256 } = file;
  const hash = createHash("sha256");
  let length = 0;
  for await (const piece of source.read(path, bytes)) {
    hash.update(piece);
    length += piece.length;
    yield piece;
  }
  if (length !== bytes) {
    throw new LakeError(
      `${source.name}: ${path} has ${length} bytes, and the manifest says ${bytes}: it was cut or changed`,
    );
  }
  if (hash.digest("hex") !== sha256) {
    throw new LakeError(
      `${source.name}: ${path} was changed: its SHA-256 is not that of the manifest`,
    );
  }
}

async function loadFile(
  request: LakeImport,
  { table, entry }: { readonly table: LakeFactTable; readonly entry: LakeFile },
): Promise<LoadedFacts> {
  const { reader, source } = request;
  const spooled = await fetchFile(request, entry);
  try {
    const file = { table, path: spooled.path };
    await refuseWrongSize(reader, file, entry);
    return await loadFactFile(reader, file);
  } catch (thrown) {
    throw toLakeError(thrown, `${source.name}: ${entry.path}`);
  } finally {
    await spooled.close();
  }
}

/** A file that says more rows than the manifest, or more bytes than a part has, is not decoded: it could take any time. */
async function refuseWrongSize(reader: Engine, file: FactFile, entry: LakeFile): Promise<void> {
  const { rows, bytes } = await readFileSize(reader, file);
  if (bytes > memoryBytesMax) throw new LakeError(`it takes ${bytes} bytes of memory`);
  if (rows !== entry.rows)
    throw new LakeError(`it does not hold the ${entry.rows} rows, but ${rows}`);
}

type Loaded = {
  readonly slice: LakeSlice;
  readonly entry: LakeFile;
  readonly facts: LoadedFacts;
};

/**
 * Rows outside of the blocks of their part would be stored twice, or be in a gap. Rows of another day, of a wrong last
 * block or that cannot be decoded would keep the service from starting. All others are left to the audit.
 */
async function refuseWrongRows({ reader }: LakeImport, loaded: Loaded): Promise<void> {
  const { slice, entry, facts } = loaded;
  const { number: last, hash } = slice.last_block;
  const found = await readBounds(reader, facts, last);
  if (
    found.rows !== entry.rows ||
    found.keys !== entry.rows ||
    found.firstSeq < toFirstSeq(slice.from_block) ||
    found.lastSeq > toLastSeq(last)
  ) {
    throw new LakeError(
      `it does not hold the ${entry.rows} rows of blocks ${slice.from_block} to ${last} that the manifest says`,
    );
  }
  const day = Date.parse(slice.date) / 1000;
  // A part ends with a block whose hash is stored, so the transfers after the last one of a day are in the next part.
  const since = walletTables.has(facts.table) ? 0 : day;
  if (found.since < since || found.until >= day + daySeconds) {
    throw new LakeError(`it has rows of other days than ${slice.date}`);
  }
  if (found.blockHashes.some((one) => one !== hash)) {
    throw new LakeError(`it has another hash of block ${last} than the manifest`);
  }
  if (facts.table === "events") await refuseUnreadableEvents(reader, facts);
}

async function refuseUnreadableEvents(reader: Engine, facts: LoadedFacts): Promise<void> {
  for (const { kind, subject, payload } of await readEvents(reader, facts)) {
    if (!isEventRow({ kind, subject, payload }))
      throw new LakeError(`it has an event of kind ${JSON.stringify(kind)} that cannot be decoded`);
  }
}

/** Names the file. What the engine reports of the content of a file is a reason, not a failure of the store. */
function toLakeError(thrown: unknown, file: string): unknown {
  if (thrown instanceof AppError || thrown instanceof DataDirectoryUnwritableError) return thrown;
  const error = toError(thrown);
  const reason =
    error instanceof LakeError
      ? error.message
      : `it cannot be read: ${getReason(toError(error.cause ?? error))}`;
  return new LakeError(`${file} cannot be imported: ${reason}`, { cause: thrown });
}

/** What the rows of a file may take in memory: ten times those of a part. */
const memoryBytesMax = 640 * 1024 ** 2;
const daySeconds = 86_400;

/** Reads the manifest of a lake. Throws `LakeError`. */
export async function readManifest(
  source: LakeSource,
  publicKey: KeyObject | null,
): Promise<Manifest> {
  return parseManifest(await readManifestText(source), publicKey);
}

/** Reads the manifest of a lake as it is. Throws `LakeError`. */
export async function readManifestText(source: LakeSource): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of source.read(manifestName, manifestBytesMax)) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}
