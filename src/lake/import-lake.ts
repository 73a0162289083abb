/**
 * Fills an empty store from a lake (docs/lake.md): another source of batches for the one append. Each part is one append,
 * so an import that is killed continues after the last part that was committed.
 */
import { createHash, type KeyObject } from "node:crypto";
import { closeOnError } from "../base/close-on-error.ts";
import { type Hash, toFirstSeq, toLastSeq } from "../base/ids.ts";
import type { Coverage } from "../chain/raw-log.ts";
import type { Tally } from "../market/delta.ts";
import { AppendGroup } from "../storage/append/append-group.ts";
import type { FactStore } from "../storage/append/fact-store.ts";
import type { BatchRows } from "../storage/codec/encode-facts.ts";
import type { FactsIdentity } from "../storage/directory/identity.ts";
import type { Engine } from "../storage/engine/engine.ts";
import type { SpoolFile } from "../storage/engine/spool-file.ts";
import {
  readFactFile,
  readFileBounds,
  readMinutesOfFile,
  readQuarantineOfFile,
} from "../storage/lake/lake-parts.ts";
import { type LakeFactTable, lakeFactTables } from "../storage/lake/lake-tables.ts";
import { rowsOfTable } from "../storage/schema/fact-tables.ts";
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

/** Throws `LakeError` when the facts of a lake are not those that this configuration indexes. */
export function refuseOtherLake(manifest: Manifest, ours: FactsIdentity): void {
  if (manifest.chain_id !== ours.chain_id) {
    throw new LakeError(
      `the lake is of chain ${manifest.chain_id}, and ODDWIRE_CHAIN_ID is ${ours.chain_id}`,
    );
  }
  if (manifest.contracts !== ours.contracts) {
    throw new LakeError(
      "the lake was indexed with another list of contracts: set the ODDWIRE_CONTRACTS_FILE that it was made with",
    );
  }
  if (manifest.events !== ours.events) {
    throw new LakeError(
      "the lake was made by a version that decodes other events, or with another ODDWIRE_WALLETS: import it with that version and setting",
    );
  }
}

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
  let committing: Promise<void> = Promise.resolve();
  try {
    for (const slice of remainingSlices(manifest, store.coverage)) {
      signal?.throwIfAborted();
      const group = await readGroup(request, slice);
      // One group is read while the one before it is appended.
      await committing;
      committing = append(request, group);
      committing.catch(() => {});
    }
  } finally {
    await committing;
  }
}

async function append({ store, onPart }: LakeImport, group: AppendGroup): Promise<void> {
  try {
    await store.writeFacts(group);
    await store.commit(group);
    for (const batch of group.batches) store.cover(batch);
    onPart?.({ block: group.range.to, rows: group.rows });
  } finally {
    await group.close();
  }
}

/** Reads and verifies the files of a part, and returns its rows as a group to append. */
async function readGroup(request: LakeImport, slice: LakeSlice): Promise<AppendGroup> {
  const { reader, store } = request;
  const rows: Record<keyof BatchRows, Uint8Array> = { ...noRows };
  let quarantined: Tally["quarantined"] = [];
  for (const table of lakeFactTables) {
    const file = slice.files[table];
    if (file === undefined) continue;
    const spooled = await fetchFile(request, file);
    try {
      const { path } = spooled;
      await verifyRows(request, { slice, file, path });
      rows[rowsOfTable[table]] = await readFactFile(reader, table, path);
      if (table === "fills") rows.minuteCandles = await readMinutesOfFile(reader, path);
      if (table === "quarantine") quarantined = await readQuarantineOfFile(reader, path);
    } finally {
      await spooled.close();
    }
  }
  const count = (table: LakeFactTable): number => slice.files[table]?.rows ?? 0;
  const tally = {
    fills: count("fills"),
    events: count("events"),
    ledger: count("ledger"),
    balances: count("balance_changes"),
    quarantined,
    anomalies: [],
  };
  const { number, hash, timestamp } = slice.last_block;
  const last = { number, hash: hash as Hash, timestamp };
  const group = new AppendGroup(store.engine);
  await group.add({ fromBlock: slice.from_block, last, rows, events: [], tally });
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
};

/** Copies a file to one that nothing else can change, and verifies its size and hash. */
async function fetchFile({ source, reader }: LakeImport, file: LakeFile): Promise<SpoolFile> {
  const { path, bytes, sha256 } = file;
  const spooled = await reader.openRows();
  return closeOnError(spooled, async () => {
    const hash = createHash("sha256");
    for await (const piece of source.read(path, bytes)) {
      hash.update(piece);
      await spooled.append(piece);
    }
    if (spooled.length !== bytes) {
      throw new LakeError(
        `${source.name}: ${path} has ${spooled.length} bytes, and the manifest says ${bytes}: it was cut or changed`,
      );
    }
    if (hash.digest("hex") !== sha256) {
      throw new LakeError(
        `${source.name}: ${path} was changed: its SHA-256 is not that of the manifest`,
      );
    }
    return spooled;
  });
}

/** Rows outside of the blocks of their part would be stored twice, or be in a gap. */
async function verifyRows(
  { reader, source }: LakeImport,
  {
    slice,
    file,
    path,
  }: { readonly slice: LakeSlice; readonly file: LakeFile; readonly path: string },
): Promise<void> {
  const found = await readFileBounds(reader, path);
  const isInside =
    found.firstSeq >= toFirstSeq(slice.from_block) &&
    found.lastSeq <= toLastSeq(slice.last_block.number);
  if (isInside && found.rows === file.rows && found.rows === found.distinct) return;
  throw new LakeError(
    `${source.name}: ${file.path} does not hold the ${file.rows} rows of blocks ${slice.from_block} to ${slice.last_block.number} that the manifest says`,
  );
}

/** Reads the manifest of a lake. Throws `LakeError`. */
export async function readManifest(
  source: LakeSource,
  publicKey: KeyObject | null,
): Promise<Manifest> {
  const pieces: Uint8Array[] = [];
  for await (const piece of source.read(manifestName, manifestBytesMax)) pieces.push(piece);
  return parseManifest(Buffer.concat(pieces).toString("utf8"), publicKey);
}
