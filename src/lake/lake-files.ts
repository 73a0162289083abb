/**
 * Writes the files of a lake. A file is first a draft, which no reader takes for one of the lake; it gets its name when
 * all files of its day are complete.
 */
import { createHash } from "node:crypto";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { parquetMetadata } from "hyparquet";
import { isPermanent, makeFolder } from "../base/config/make-data-directory.ts";
import { toError } from "../base/errors.ts";
import { awaitWrite } from "../storage/engine/store-errors.ts";
import { lakeFactTables } from "../storage/lake/lake-tables.ts";
import { LakeError } from "./lake-error.ts";
import {
  isLakePath,
  type LakeFile,
  type LakeSlice,
  type Manifest,
  manifestName,
} from "./manifest.ts";

/** What messages call the folder. */
export const lakeLocation = "the lake";

const pieceBytes = 1024 * 1024;

const tables: readonly string[] = [...lakeFactTables, "trades", "candles_1m"];

/** What a lake has beside its tables and its manifest. */
const otherNames: ReadonlySet<string> = new Set([
  "lock",
  "lock-journal",
  "markets",
  `${manifestName}.draft`,
]);

/**
 * Makes the folder of a lake unless it exists. Throws `LakeError` when it cannot, and when the folder has other files and
 * no manifest: an export that was interrupted has left only files of a lake.
 */
export async function makeLakeFolder(folder: string): Promise<void> {
  try {
    makeFolder(resolve(folder));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "EEXIST" || code === "ENOTDIR")
      throw new LakeError(`${folder} is not a folder`, { cause });
    if (isPermanent(cause))
      throw new LakeError(`${folder} cannot be made: ${cause.message}`, { cause });
    await awaitWrite(Promise.reject(toError(cause)), lakeLocation);
  }
  const names = await awaitWrite(readdir(folder), lakeLocation);
  if (names.includes(manifestName)) return;
  const other =
    names.find((name) => !otherNames.has(name) && !tables.includes(name)) ??
    (await findOtherFile(folder));
  if (other === undefined) return;
  throw new LakeError(
    `${folder} is not a lake: it has no ${manifestName}, but ${other}; choose a new or an empty folder`,
  );
}

async function findOtherFile(folder: string): Promise<string | undefined> {
  const reading = readdir(folder, { recursive: true, withFileTypes: true });
  return (await awaitWrite(reading, lakeLocation))
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .find((path) => !otherNames.has(path) && !isLakePath(path.replace(/\.draft$/, "")));
}

/** Writes the draft of a Parquet file. Returns its entry of the manifest; `null` when it would have no rows. */
export async function writeTable(
  folder: string,
  path: string,
  encoded: Uint8Array | null,
): Promise<LakeFile | null> {
  const footer = encoded === null ? null : readFooter(encoded);
  if (encoded === null || footer === null || footer.rows === 0) return null;
  return { path, ...footer, ...(await writeDraft(folder, path, encoded)) };
}

/** Writes a file durably under the name of a draft. Returns its size and hash. */
export async function writeDraft(
  folder: string,
  path: string,
  bytes: Uint8Array,
): Promise<Pick<LakeFile, "bytes" | "sha256">> {
  const target = join(folder, path);
  await awaitWrite(makeParents(folder, path), lakeLocation);
  const hash = createHash("sha256");
  const file = await awaitWrite(open(`${target}.draft`, "w"), lakeLocation);
  try {
    // In pieces, so that requests of a service that exports have their turn.
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const piece = bytes.subarray(at, at + pieceBytes);
      hash.update(piece);
      await awaitWrite(file.writeFile(piece), lakeLocation);
      await turn();
    }
    await awaitWrite(file.sync(), lakeLocation);
  } catch (thrown) {
    await rm(`${target}.draft`, { force: true });
    throw thrown;
  } finally {
    await file.close();
  }
  return { bytes: bytes.length, sha256: hash.digest("hex") };
}

/** Makes the folders of a path, but not the lake: one that has vanished has lost its files. */
async function makeParents(folder: string, path: string): Promise<void> {
  let made = folder;
  for (const name of path.split("/").slice(0, -1)) {
    made = join(made, name);
    await mkdir(made).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== "EEXIST") throw thrown;
    });
  }
}

/** Gives a draft its name. */
export async function publish(folder: string, path: string): Promise<void> {
  await awaitWrite(rename(join(folder, `${path}.draft`), join(folder, path)), lakeLocation);
}

/**
 * Removes files that the manifest does not name, left by an interrupted export or replaced: readers take every file of
 * a folder.
 */
export async function removeUnnamed(folder: string, manifest: Manifest | null): Promise<void> {
  const named = new Set((manifest?.slices ?? []).flatMap(listPaths));
  for (const table of tables) {
    const found = await readdir(join(folder, table), { recursive: true }).catch(() => []);
    const paths = found.map((name) => `${table}/${name}`);
    const others = paths.filter(
      (path) => !named.has(path) && isLakePath(path.replace(/\.draft$/, "")),
    );
    for (const path of others) await rm(join(folder, path), { force: true });
  }
}

/** Returns the paths of the files of a slice. */
export function listPaths({ files }: LakeSlice): readonly string[] {
  return Object.values(files).map(({ path }) => path);
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
