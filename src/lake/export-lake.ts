/**
 * Writes final days as Parquet files (docs/lake.md). A day is written once its last block is final. Files get their name
 * only when all files of the day are complete, and the manifest names them after that: a crash leaves the lake as it was.
 */
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { assert } from "../base/assert.ts";
import { version } from "../base/config/version.ts";
import { tryParseJson } from "../base/json.ts";
import type { BlockRange } from "../chain/raw-log.ts";
import { lockFolder } from "../storage/directory/data-directory.ts";
import { readFirstTime } from "../storage/lake/lake-parts.ts";
import { StagedRows } from "../storage/lake/staged-rows.ts";
import { type RepairedBlocks, readRepairedBlocks } from "../storage/recovery/repaired-blocks.ts";
import { daySeconds, exportDay, type RunningExport, toDate } from "./export-day.ts";
import { openFolderLake } from "./folder-lake.ts";
import { readManifestText } from "./import-lake.ts";
import { LakeError } from "./lake-error.ts";
import type { LakeExport } from "./lake-export.ts";
import { lakeLocation, makeLakeFolder, publish, removeUnnamed, writeDraft } from "./lake-files.ts";
import {
  formatManifest,
  type LakeSlice,
  layoutVersion,
  type Manifest,
  manifestName,
  parseManifest,
  refuseOtherLake,
} from "./manifest.ts";

/**
 * Adds all final days that the lake does not have, and writes again those that were repaired. Returns the manifest.
 * Throws `LakeError`, `DataDirectoryBusyError` while another process exports to the folder, and
 * `DataDirectoryUnwritableError`.
 */
export async function exportLake(request: LakeExport): Promise<Manifest> {
  const { folder } = request;
  await makeLakeFolder(folder);
  const busy = `another process exports to ${folder}; wait until it has finished`;
  const unlock = lockFolder(folder, { variable: "--lake", busy, location: lakeLocation });
  try {
    const manifest = await readExisting(request);
    await removeUnnamed(folder, manifest);
    return await exportStaged(request, manifest).catch(async (thrown: unknown) => {
      // A disk that is full needs the room.
      await readExisting(request)
        .then((now) => removeUnnamed(folder, now))
        .catch(() => {});
      throw thrown;
    });
  } finally {
    unlock();
  }
}

async function exportStaged(request: LakeExport, before: Manifest | null): Promise<Manifest> {
  const { engine, tablesAtOnce = 1 } = request;
  const staged = new StagedRows({ engine, isPatient: tablesAtOnce === 1 });
  try {
    return await exportDays({ ...request, staged }, before);
  } finally {
    await staged.drop();
  }
}

async function exportDays(request: RunningExport, before: Manifest | null): Promise<Manifest> {
  const { coverage, engine } = request;
  const repairs = await readRepairedBlocks(engine);
  let manifest = before === null ? null : await replaceRepaired(request, before, repairs);
  const from = (manifest?.last_block.number ?? coverage.fromBlock - 1) + 1;
  const range = { from, to: coverage.last.number };
  for await (const added of exportSpan(request, manifest, { range })) {
    const slices = [...(manifest?.slices ?? []), ...added];
    manifest = await writeSlices(request, slices, { manifest, repairs });
  }
  if (manifest === null) {
    const time = new Date(coverage.last.timestamp * 1000).toISOString();
    const isLimited = request.from !== undefined || request.to !== undefined;
    throw new LakeError(
      `there is no final day to export${isLimited ? " of those requested" : " yet"}: the newest final block is of ${time}, and a day is exported once a block of the next day is final`,
    );
  }
  if (manifest !== before || manifest.markets === null) return exportMarkets(request, manifest);
  // The key can be another one.
  await writeManifest(request, manifest);
  return manifest;
}

/** Reads the manifest of an earlier export. Throws `LakeError` when the lake is of other facts. */
async function readExisting({
  folder,
  identity,
  coverage,
  signKey,
}: LakeExport): Promise<Manifest | null> {
  const text = await readWritten(folder);
  if (text === null) return null;
  const manifest = parseManifest(text);
  if (signKey === null && "signature" in Object(tryParseJson(text))) {
    throw new LakeError(
      `${folder} is signed: set --sign-key or ODDWIRE_LAKE_SIGN_KEY, or its readers would refuse it`,
    );
  }
  refuseOtherLake(manifest, identity);
  if (manifest.last_block.number + 1 < coverage.fromBlock) {
    throw new LakeError(
      `${folder} ends at block ${manifest.last_block.number}, and what is stored begins at block ${coverage.fromBlock}`,
    );
  }
  return manifest;
}

/** Returns the manifest of a folder as it is; `null` when it has none. */
async function readWritten(folder: string): Promise<string | null> {
  const isMissing = await lstat(join(folder, manifestName)).then(
    () => false,
    ({ code }: NodeJS.ErrnoException) => code === "ENOENT",
  );
  return isMissing ? null : readManifestText(openFolderLake(folder));
}

/** Exports the days of a range of blocks, up to a day; by default all that are final. Yields the slices of each. */
async function* exportSpan(
  request: RunningExport,
  manifest: Manifest | null,
  {
    range,
    lastDate = request.to,
  }: { readonly range: BlockRange; readonly lastDate?: string | undefined },
): AsyncGenerator<readonly LakeSlice[], void, undefined> {
  const { coverage, engine, from: firstDate } = request;
  const first = await readFirstTime(engine, range);
  if (first === null) return;
  const isLater = manifest === null && firstDate !== undefined;
  // A lake that does not begin with the store begins with the first block of its first day that has facts.
  let from = isLater ? null : range.from;
  let day = Math.max(first - (first % daySeconds), isLater ? Date.parse(firstDate) / 1000 : 0);
  // A day is final once a block after it is.
  for (; day + daySeconds <= coverage.last.timestamp; day += daySeconds) {
    if (lastDate !== undefined && toDate(day) > lastDate) return;
    const slices = await exportDay(request, { day, from, to: range.to }, manifest);
    const last = slices.at(-1);
    if (last === undefined) continue;
    yield slices;
    from = last.last_block.number + 1;
  }
}

/**
 * Writes the days again that were repaired since they were written. A repair can move the first and the last block with
 * facts of a day, so the days beside it are written again as well. Old files stay until the manifest names the new ones.
 */
async function replaceRepaired(
  request: RunningExport,
  manifest: Manifest,
  repairs: readonly RepairedBlocks[],
): Promise<Manifest> {
  const { coverage, folder } = request;
  const days = [...Map.groupBy(manifest.slices, ({ date }) => date)];
  const repaired = await findRepaired(request, manifest, repairs);
  const isReplaced = (index: number) =>
    days.slice(Math.max(0, index - 1), index + 2).some(([date]) => repaired.has(date));
  const slices: LakeSlice[] = [];
  for (let index = 0; index < days.length; index += 1) {
    const [, old = []] = days[index] ?? [];
    if (!isReplaced(index)) {
      slices.push(...old);
      continue;
    }
    while (index + 1 < days.length && isReplaced(index + 1)) index += 1;
    const [lastDate] = days[index] ?? [];
    const next = days[index + 1]?.[1][0]?.from_block ?? coverage.last.number + 1;
    const range = { from: old[0]?.from_block ?? 0, to: next - 1 };
    for await (const one of exportSpan(request, manifest, { range, lastDate })) slices.push(...one);
  }
  if (repaired.size === 0 || slices.length === 0) return manifest;
  const replaced = await writeSlices(request, slices, { manifest, repairs });
  await removeUnnamed(folder, replaced);
  return replaced;
}

/** Returns the dates of the lake whose blocks were repaired since they were written. */
async function findRepaired(
  { coverage, engine }: LakeExport,
  { slices, last_block: end, repairs: written = [] }: Manifest,
  repairs: readonly RepairedBlocks[],
): Promise<ReadonlySet<string>> {
  const unseen = repairs.filter(({ id }) => !written.includes(id));
  const repaired = slices.filter(({ from_block: from, last_block: { number: to } }) =>
    unseen.some((one) => one.from <= to && one.to >= from),
  );
  const dates = new Set(repaired.map(({ date }) => date));
  // A repair can have added facts to the last day, behind those that it had.
  const next = await readFirstTime(engine, { from: end.number + 1, to: coverage.last.number });
  const lastDate = slices.at(-1)?.date;
  if (next !== null && toDate(next) === lastDate) dates.add(lastDate);
  return dates;
}

async function writeSlices(
  request: LakeExport,
  slices: readonly LakeSlice[],
  previous: { readonly manifest: Manifest | null; readonly repairs: readonly RepairedBlocks[] },
): Promise<Manifest> {
  const { identity } = request;
  const [first, last] = [slices[0], slices.at(-1)];
  assert(first !== undefined && last !== undefined, "a lake has a day");
  const manifest = {
    layout: layoutVersion,
    created_by: `oddwire ${version}`,
    chain_id: identity.chain_id,
    contracts: identity.contracts,
    events: identity.events,
    first_block: previous.manifest?.first_block ?? first.from_block,
    last_block: last.last_block,
    slices: [...slices],
    repairs: previous.repairs.map(({ id }) => id),
    markets: previous.manifest?.markets ?? null,
  };
  await writeManifest(request, manifest);
  return manifest;
}

async function writeManifest({ folder, signKey }: LakeExport, manifest: Manifest): Promise<void> {
  const text = formatManifest(manifest, signKey);
  if (text === (await readWritten(folder))) return;
  await writeDraft(folder, manifestName, Buffer.from(text));
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
