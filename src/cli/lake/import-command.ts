import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../base/config/config.ts";
import { hasCredentials } from "../../base/config/setting.ts";
import { systemClock } from "../../base/time/clock.ts";
import { AuditLog } from "../../feed/audit-log.ts";
import { getStartBlock, type IndexingStart } from "../../feed/start-block.ts";
import { openFolderLake } from "../../lake/folder-lake.ts";
import {
  importLake,
  type LakeSource,
  readManifest,
  remainingSlices,
} from "../../lake/import-lake.ts";
import { LakeError } from "../../lake/lake-error.ts";
import { type Manifest, refuseOtherLake } from "../../lake/manifest.ts";
import { openServer } from "../../roles/open-parts.ts";
import { readContracts } from "../../roles/read-contracts.ts";
import { FactStore } from "../../storage/append/fact-store.ts";
import {
  lockDataDirectory,
  readStartBlock,
  tieDataDirectory,
} from "../../storage/directory/data-directory.ts";
import { toIdentity } from "../../storage/directory/identity.ts";
import { ChdbEngine } from "../../storage/embedded/chdb-engine.ts";
import { openFolder } from "../../storage/embedded/open-folder.ts";
import type { Engine } from "../../storage/engine/engine.ts";
import { dropMarketsFile } from "../../views/disk/markets-file.ts";
import { readApi } from "../client/api-options.ts";
import { closeBeforeExit, print, UsageError } from "../command.ts";
import { signalToStop } from "../service/await-signal.ts";
import { CheckProgress } from "../service/check-progress.ts";
import { toEnvironment } from "../service/setting-flags.ts";
import { openHttpLake } from "./http-lake.ts";
import { readVerifyKey } from "./lake-keys.ts";
import { refuseOverlap } from "./refuse-overlap.ts";

type ImportOptions = {
  readonly lake: string;
  readonly verifyKey?: string;
  readonly keyFile?: string;
  readonly allowPrivate?: true;
  readonly dataDir?: string;
};

/** Fills an empty store from a lake. Throws `LakeError` and what opening a store throws. */
export async function importCommand(options: ImportOptions): Promise<number> {
  const signal = signalToStop();
  const source = openLake(options, signal);
  const config = readConfig("administer", toEnvironment({ dataDir: options.dataDir }));
  if (!isUrl(options.lake)) refuseOverlap(options.lake, config.dataDir);
  const contracts = await readContracts(config);
  const manifest = await readManifest(source, readVerifyKey(options.verifyKey));
  refuseOtherLake(manifest, toIdentity(config.chainId, contracts));

  await using opened = new AsyncDisposableStack();
  opened.defer(closeBeforeExit(() => opened.disposeAsync()));
  const { dataDir, clickhouseUrl } = config;
  opened.defer(lockDataDirectory(dataDir));
  refuseLaterStart(
    { config, contracts, startedAt: await readStartBlock({ config, contracts }) },
    manifest,
  );
  const engine =
    clickhouseUrl === null
      ? await openFolder(dataDir, contracts)
      : await openServer({ config, contracts });
  const store = await FactStore.open(engine, { dropCopies: () => dropMarketsFile(dataDir) });
  opened.defer(() => store.close());
  const remaining = remainingSlices(manifest, store.coverage);
  if (remaining.length === 0) return print(`${source.name} is imported already`);
  // From here on the folder is of this chain, also when the import is interrupted.
  await tieDataDirectory({ config, contracts }, manifest.first_block);
  const reader = engine.kind === "embedded" ? engine : await openReader(opened);
  const progress = new CheckProgress({
    range: { from: remaining[0]?.from_block ?? 0, to: manifest.last_block.number },
    output: process.stderr,
    clock: systemClock,
    done: "imported",
  });
  const audit = await AuditLog.open(dataDir);
  await audit.markImported({ from: manifest.first_block, to: manifest.last_block.number });
  await importLake({
    source,
    manifest,
    store,
    reader,
    signal,
    onPart: ({ block }) => progress.reach(block),
  });
  progress.clear();
  return print(
    `blocks ${manifest.first_block} to ${manifest.last_block.number} are imported; start the service to continue and to audit them`,
  );
}

/** The first start of the service would refuse a store that begins after its start block. */
function refuseLaterStart(start: IndexingStart, { first_block: first }: Manifest): void {
  const block = getStartBlock(start);
  if (block === "latest" || block >= first) return;
  throw new LakeError(
    `the lake begins at block ${first}, and indexing starts at block ${block}: unset ODDWIRE_START_BLOCK, or import a lake that begins there`,
  );
}

function openLake(options: ImportOptions, signal: AbortSignal): LakeSource {
  const { lake, keyFile, allowPrivate = false } = options;
  if (!isUrl(lake)) {
    if (keyFile !== undefined || allowPrivate)
      throw new UsageError("--key-file and --allow-private are for a lake with an address");
    return openFolderLake(lake);
  }
  if (!URL.canParse(lake) || hasCredentials(lake)) {
    throw new UsageError("--lake is a folder, or an http or https URL without a user name");
  }
  const { url, key } =
    keyFile === undefined ? { url: lake, key: null } : readApi({ url: lake, keyFile });
  return openHttpLake({ url, key, allowPrivate, signal });
}

function isUrl(lake: string): boolean {
  return /^https?:\/\//i.test(lake);
}

/** Opens an embedded engine that only reads files of the lake, for a store on a server, which cannot read them. */
async function openReader(opened: AsyncDisposableStack): Promise<Engine> {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-import-"));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const reader = await ChdbEngine.open(folder);
  opened.defer(() => reader.close());
  return reader;
}
