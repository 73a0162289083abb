/** Writes the files of a day: parts of consecutive blocks, and for each a file of every table that has rows. */
import { settleAll } from "../base/time/settle-all.ts";
import type { BlockRange } from "../chain/raw-log.ts";
import {
  encodeCandleFile,
  encodeFactFile,
  encodeTradeFile,
  readLakeParts,
  type TimeSpan,
} from "../storage/lake/lake-parts.ts";
import { getLakeTables } from "../storage/lake/lake-tables.ts";
import type { StagedRows } from "../storage/lake/staged-rows.ts";
import { walletTables } from "../storage/schema/fact-tables.ts";
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

/** The files of a part: their name in the folder of each table, and the candles that they have with the last part of a day. */
type PartDraft = {
  readonly slice: LakeSlice;
  readonly name: string;
  readonly candles: TimeSpan | null;
};

/** An export that is running. */
export type RunningExport = LakeExport & { readonly staged: StagedRows };

type Written = { readonly slice: LakeSlice; readonly table: string; readonly file: LakeFile };

export const daySeconds = 86_400;

/** Returns the day of a time in Unix seconds, as YYYY-MM-DD. */
export function toDate(time: number): string {
  return new Date(time * 1000).toISOString().slice(0, 10);
}

/** Writes a day under other names than those of its parts in the manifest, which it may replace. */
export async function exportDay(
  request: RunningExport,
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
  const drafts = slices.map((slice, index) => ({
    slice,
    name: `date=${date}/part-${number + index}.parquet`,
    candles: index === slices.length - 1 ? span : null,
  }));
  const files = await writeParts(request, drafts, to);
  for (const { file } of files) await publish(request.folder, file.path);
  request.onDay?.({ date, rows: parts.reduce((sum, { rows }) => sum + rows, 0) });
  const bySlice = Map.groupBy(files, ({ slice }) => slice);
  return slices.map((slice) => ({
    ...slice,
    files: Object.fromEntries((bySlice.get(slice) ?? []).map(({ table, file }) => [table, file])),
  }));
}

/** Writes the drafts of all files of some parts. Those of wallets come last: their rows are staged meanwhile. */
async function writeParts(
  request: RunningExport,
  parts: readonly PartDraft[],
  end: number,
): Promise<readonly Written[]> {
  const { folder, staged, tablesAtOnce = 1, signal } = request;
  const [first, last] = [parts[0], parts.at(-1)];
  if (first === undefined || last === undefined) return [];
  const range = { from: first.slice.from_block, to: last.slice.last_block.number };
  const staging = staged.cover(range, end);
  const drafts = parts
    .flatMap((part) =>
      getEncoders(request, part).map(([table, encode]) => ({ ...part, table, encode })),
    )
    .toSorted((a, b) => Number(walletTables.has(a.table)) - Number(walletTables.has(b.table)));
  const written = new Map<object, LakeFile>();
  const queue = drafts.values();
  const write = async (): Promise<void> => {
    for (const draft of queue) {
      signal?.throwIfAborted();
      const { table, name } = draft;
      if (walletTables.has(table)) await staging;
      const file = await writeTable(folder, `${table}/${name}`, await draft.encode());
      if (file !== null) written.set(draft, file);
    }
  };
  // Staging takes as long and as much memory as encoding, so one waits for it.
  const others = Array.from({ length: tablesAtOnce - 1 }, write);
  await settleAll([staging.then(write), ...others]);
  return drafts.flatMap((draft) => {
    const file = written.get(draft);
    return file === undefined ? [] : [{ slice: draft.slice, table: draft.table, file }];
  });
}

/** Returns what encodes the file of each table, those that take longest first. */
function getEncoders(
  { engine, getToken, staged, tablesAtOnce = 1 }: RunningExport,
  { slice, candles }: PartDraft,
): readonly (readonly [table: string, encode: () => Promise<Buffer | null>])[] {
  const range = toRange(slice);
  const part = { engine, isPatient: tablesAtOnce === 1 };
  return [
    ["trades", () => encodeTradeFile(part, range, getToken)],
    ...getLakeTables(engine).map(
      (table) =>
        [
          table,
          () => encodeFactFile(part, { table, source: staged.getSource(table), range }),
        ] as const,
    ),
    ...(candles === null ? [] : [["candles_1m", () => encodeCandleFile(part, candles)] as const]),
  ];
}

function toRange({ from_block: from, last_block: { number: to } }: LakeSlice): BlockRange {
  return { from, to };
}

function nextNumber(manifest: Manifest | null, date: string): number {
  const parts = (manifest?.slices ?? []).filter((one) => one.date === date).flatMap(listPaths);
  const numbers = parts.map((path) => Number(/part-(\d+)/.exec(path)?.[1]));
  return Math.max(-1, ...numbers) + 1;
}
