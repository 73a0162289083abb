/** What is held in memory of a part: of each granule, some hundred to a thousand rows, its first key and its place in 52 bytes. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Span, Times } from "../part-map.ts";
import { unpackFile } from "./compressed-block.ts";
import type { PartLayout } from "./part-layouts.ts";
import { mustBe } from "./part-unreadable-error.ts";

/** Bytes of a token. */
export const tokenBytes = 32;

/** Where in the chain rows are, and when they happened; wider where that is not told. */
type Extent = Span & Times;

/** Of a part; read once, as it never changes. */
export type GranuleMap = Extent & {
  /** How many granules there are. */
  readonly granules: number;
  /** Of each granule the first key; at the end that of the very last row. */
  readonly keys: Buffer;
  readonly secondKeyBytes: number;
  /** Where granules begin in the file of their rows; at the end where that ends. */
  readonly places: Float64Array;
  /** How many rows they have. */
  readonly rows: Uint32Array;
};

/** Rows of one token whose second key is from `from` inclusive to `to` exclusive. */
export type KeyRange = Span & { readonly token: Buffer };

/** Throws `PartUnreadableError`, and what reading a file does. */
export function readGranuleMap(folder: string, layout: PartLayout): GranuleMap {
  const dir = join(folder, layout.folder);
  checkColumns(dir, layout);
  const secondKeyBytes = layout.columns[layout.key[1]]?.widths[0] ?? 0;
  const keys = unpackFile(readFileSync(join(dir, "primary.cidx")));
  const keyBytes = tokenBytes + secondKeyBytes;
  mustBe(keys.length % keyBytes === 0, "the index has whole keys");
  // A part without rows has no keys, and any other has one more than granules.
  const granules = Math.max(0, keys.length / keyBytes - 1);
  const marks = unpackFile(readFileSync(join(dir, "data.cmrk4")));
  const { places, rows } = readMarks(marks, granules);
  const count = readFileSync(join(dir, "count.txt"), "utf8");
  mustBe(count === String(rows.reduce((sum, some) => sum + some, 0)), "a part has all of its rows");
  places[granules] = statSync(join(dir, "data.bin")).size;
  const extent = granules === 0 ? endless : readExtent(folder, layout);
  return { granules, keys, secondKeyBytes, places, rows, ...extent };
}

/** The granules that may have rows of a range: from the first inclusive to the last exclusive. */
export function granulesOf(
  map: GranuleMap,
  { token, from, to }: KeyRange,
): readonly [number, number] {
  return [Math.max(0, countBelow(map, token, from) - 1), countBelow(map, token, to)];
}

/** How many granules begin with a key below one. */
function countBelow(
  { keys, granules, secondKeyBytes }: GranuleMap,
  token: Buffer,
  second: number,
): number {
  let [low, high] = [0, granules];
  while (low < high) {
    const middle = (low + high) >> 1;
    const at = middle * (tokenBytes + secondKeyBytes);
    const order = token.compare(keys, at, at + tokenBytes);
    const isBelow =
      order > 0 || (order === 0 && integerAt(keys, at + tokenBytes, secondKeyBytes) < second);
    if (isBelow) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** An unsigned integer as the engine writes it, of 4 or 8 bytes; a safe one. */
export function integerAt(bytes: Buffer, at: number, width: number): number {
  const low = bytes.readUInt32LE(at);
  return width === 4 ? low : bytes.readUInt32LE(at + 4) * 2 ** 32 + low;
}

function checkColumns(dir: string, { columns, columnsRead }: PartLayout): void {
  const lines = columns.map(({ name, type }) => `\`${name}\` ${type}\n`).join("");
  const text = `columns format version: 1\n${columns.length} columns:\n${lines}`;
  mustBe(
    readFileSync(join(dir, "columns.txt"), "utf8") === text,
    "a part has the columns of its table",
  );
  const told = JSON.parse(readFileSync(join(dir, "serialization.json"), "utf8")) as Serialization;
  const kinds = new Map(told.columns?.map(({ name, kind }) => [name, kind]));
  const read = columns.slice(0, columnsRead);
  mustBe(
    read.every(({ name }) => (kinds.get(name) ?? "Default") === "Default"),
    "every value of a column is there",
  );
  const hasText = columns.some(({ type }) => type === "String");
  const hasSizes = told.types_serialization_versions?.string === 1;
  mustBe(hasSizes || !hasText, "the lengths of texts stand before them");
}

/** How values are written; as little of it as is looked at. */
type Serialization = {
  readonly columns?: readonly { readonly name: string; readonly kind: string }[];
  readonly types_serialization_versions?: { readonly string?: number };
};

/** A mark of a granule: for each stream of bytes where its block is and where in that it begins, then how many rows there are. */
function readMarks(
  marks: Buffer,
  granules: number,
): { readonly places: Float64Array; readonly rows: Uint32Array } {
  const markBytes = marks.length / (granules + 1);
  mustBe(granules === 0 || markBytes % 16 === 8, "there is a mark for each key");
  const places = new Float64Array(granules + 1);
  const rows = new Uint32Array(granules);
  for (let granule = 0; granule < granules; granule += 1) {
    const at = granule * markBytes;
    mustBe(integerAt(marks, at + 8, 8) === 0, "a granule begins with a block");
    places[granule] = integerAt(marks, at, 8);
    rows[granule] = integerAt(marks, at + markBytes - 8, 8);
  }
  return { places, rows };
}

const endless: Extent = {
  from: 0,
  to: Number.MAX_SAFE_INTEGER,
  firstTimestamp: 0,
  lastTimestamp: Number.MAX_SAFE_INTEGER,
};

/** Of a part that has rows. */
function readExtent(folder: string, { seqsFile, timesFile }: PartLayout): Extent {
  const span = seqsFile === null ? endless : readSpan(join(folder, seqsFile));
  return { ...endless, ...span, ...readTimes(join(folder, timesFile)) };
}

/** Out of the index of the part itself, which is in the order of the chain. */
function readSpan(path: string): Span {
  const seqs = unpackFile(readFileSync(path));
  mustBe(
    seqs.length >= 16 && seqs.length % 8 === 0,
    "an index has the first position and the last",
  );
  return { from: integerAt(seqs, 0, 8), to: integerAt(seqs, seqs.length - 8, 8) + 1 };
}

/** Out of the lowest and the highest time of some rows each; tables from before have no such index. */
function readTimes(path: string): Times | null {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return null;
  const times = unpackFile(readFileSync(path));
  mustBe(times.length > 0 && times.length % 8 === 0, "an index of times has pairs of them");
  let [firstTimestamp, lastTimestamp] = [Number.POSITIVE_INFINITY, 0];
  for (let at = 0; at < times.length; at += 8) {
    firstTimestamp = Math.min(firstTimestamp, times.readUInt32LE(at));
    lastTimestamp = Math.max(lastTimestamp, times.readUInt32LE(at + 4));
  }
  return { firstTimestamp, lastTimestamp };
}
