/** Writes the files of a day: parts of consecutive blocks, and for each a file of every table that has rows. */
import { settleAll } from "../base/time/settle-all.ts";
import {
  encodeCandleFile,
  encodeFactFile,
  encodeTradeFile,
  readLakeParts,
  type TimeSpan,
} from "../storage/lake/lake-parts.ts";
import { getLakeTables } from "../storage/lake/lake-tables.ts";
import type { LakeExport } from "./lake-export.ts";
import { listPaths, publish, writeTable } from "./lake-files.ts";
import type { LakeFile, LakeSlice, Manifest } from "./manifest.ts";

/** Facts of one part. A part is one row group, and one append when it is imported. */
const usualPartRows = 131_072;

type Day = {
  /** The start of the day, in Unix seconds. */
  readonly day: number;
  /** The blocks among which its facts are; with `null` its parts begin with the first block that has facts. */
  readonly from: number | null;
  readonly to: number;
};

/** A file to write, unless the table has no rows for it. */
type Draft = {
  readonly slice: LakeSlice;
  readonly table: string;
  readonly path: string;
  readonly encode: () => Promise<Buffer | null>;
};

export const daySeconds = 86_400;

/** Returns the day of a time in Unix seconds, as YYYY-MM-DD. */
export function toDate(time: number): string {
  return new Date(time * 1000).toISOString().slice(0, 10);
}

/** Writes a day under other names than those of its parts in the manifest, which it may replace. */
export async function exportDay(
  request: LakeExport,
  { day, from, to }: Day,
  manifest: Manifest | null,
): Promise<readonly LakeSlice[]> {
  const { engine, partRows: rowsMax = usualPartRows } = request;
  const span = { since: day, until: day + daySeconds };
  const date = toDate(day);
  const parts = await readLakeParts(engine, { from: from ?? 0, to }, { ...span, rowsMax });
  const slices = parts.map(({ firstBlock, last }, index) => ({
    date,
    from_block: (parts[index - 1]?.last.number ?? (from ?? firstBlock) - 1) + 1,
    last_block: last,
    files: {},
  }));
  const number = nextNumber(manifest, date);
  const drafts = slices.flatMap((slice, index) => {
    const name = `date=${date}/part-${number + index}.parquet`;
    const candles = index === slices.length - 1 ? span : null;
    return getEncoders(request, slice, candles).map(
      ([table, encode]): Draft => ({ slice, table, path: `${table}/${name}`, encode }),
    );
  });
  const files = await writeAll(request, drafts);
  request.onDay?.({ date, rows: parts.reduce((sum, { rows }) => sum + rows, 0) });
  return slices.map((slice) => ({ ...slice, files: Object.fromEntries(files.get(slice) ?? []) }));
}

type Files = ReadonlyMap<LakeSlice, readonly (readonly [table: string, LakeFile])[]>;

/** Writes drafts, and gives them their names when all are there. Returns the files of each slice, by table. */
async function writeAll(
  { folder, tablesAtOnce = 1, signal }: LakeExport,
  drafts: readonly Draft[],
): Promise<Files> {
  const written = new Map<Draft, LakeFile>();
  const left = drafts.values();
  const write = async (): Promise<void> => {
    for (const draft of left) {
      signal?.throwIfAborted();
      const file = await writeTable(folder, draft.path, await draft.encode());
      if (file !== null) written.set(draft, file);
    }
  };
  await settleAll(Array.from({ length: tablesAtOnce }, write));
  for (const { path } of written.values()) await publish(folder, path);
  const found = drafts.flatMap((draft) => {
    const file = written.get(draft);
    return file === undefined ? [] : [{ ...draft, file }];
  });
  return new Map(
    [...Map.groupBy(found, ({ slice }) => slice)].map(([slice, of]) => [
      slice,
      of.map(({ table, file }) => [table, file] as const),
    ]),
  );
}

/** Returns what encodes the file of each table, those that take longest first; candles for the last part of a day. */
function getEncoders(
  { engine, getToken, tablesAtOnce = 1 }: LakeExport,
  { from_block: from, last_block: { number: to } }: LakeSlice,
  candles: TimeSpan | null,
): readonly (readonly [table: string, encode: () => Promise<Buffer | null>])[] {
  const range = { from, to };
  const part = { engine, isPatient: tablesAtOnce === 1 };
  return [
    ["trades", () => encodeTradeFile(part, range, getToken)],
    ...getLakeTables(engine).map(
      (table) => [table, () => encodeFactFile(part, table, range)] as const,
    ),
    ...(candles === null ? [] : [["candles_1m", () => encodeCandleFile(part, candles)] as const]),
  ];
}

/** Returns the number after those of the parts that a day has. */
function nextNumber(manifest: Manifest | null, date: string): number {
  const parts = (manifest?.slices ?? []).filter((one) => one.date === date).flatMap(listPaths);
  const numbers = parts.map((path) => Number(/part-(\d+)/.exec(path)?.[1]));
  return Math.max(-1, ...numbers) + 1;
}
