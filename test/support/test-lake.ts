/** A store of generated blocks of several days, its lake, and stores that are filled from it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import * as fc from "fast-check";
import { zeroHash } from "../../src/base/ids.ts";
import { exportLake } from "../../src/lake/export-lake.ts";
import { openFolderLake } from "../../src/lake/folder-lake.ts";
import { importLake, readManifest } from "../../src/lake/import-lake.ts";
import type { LakeExport } from "../../src/lake/lake-export.ts";
import { toLakeToken } from "../../src/lake/lake-tokens.ts";
import type { Manifest } from "../../src/lake/manifest.ts";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import { toIdentity } from "../../src/storage/directory/identity.ts";
import { ChdbEngine } from "../../src/storage/embedded/chdb-engine.ts";
import type { Engine } from "../../src/storage/engine/engine.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { cleanUp } from "./clean-up.ts";
import { anyBlockPlan, buildChain } from "./generate-chain.ts";
import { MemoryStateStore } from "./memory-state-store.ts";
import { isOnServer } from "./open-facts.ts";
import { testSeed } from "./property-settings.ts";
import { knownContracts } from "./recorded-chain.ts";
import { fillStore, getFacts } from "./store-chain.ts";
import { StoreFolder } from "./store-folder.ts";

const daySeconds = 86_400;
const identity = toIdentity(137, knownContracts());

/** A chain of several days, its store, and where to export it to. */
export async function openFilled(t: TestContext, salt: number) {
  const plans = fc
    .sample(anyBlockPlan(), { seed: testSeed + salt, numRuns: 48 })
    .map((plan, index) => (index % 12 === 11 ? { ...plan, secondsLater: daySeconds } : plan));
  const blocks = getFacts(buildChain(plans));
  const source = await StoreFolder.open(t);
  const { store } = source;
  const state = new MarketState(knownContracts(), new MemoryStateStore());
  store.addView(state);
  await fillStore(store, { final: blocks, unfinalized: [], sizes: [7, 1, 13] });
  await store.loadView(state);
  return { blocks, source, store, state, folder: join(source.path, "lake") };
}

export type Filled = Awaited<ReturnType<typeof openFilled>>;

export function exported(
  { store, state, folder }: Filled,
  more: Partial<LakeExport> = {},
): Promise<Manifest> {
  const { engine, coverage } = store;
  assert(coverage !== null);
  return exportLake({
    folder,
    engine,
    coverage,
    identity,
    getToken: (tokenId) => toLakeToken(tokenId, state.directory),
    encodeMarkets: async () => ({ bytes: Buffer.from("markets"), rows: 0 }),
    signKey: null,
    ...more,
  });
}

export async function imported(
  t: TestContext,
  { source: exporting, folder }: Pick<Filled, "source" | "folder">,
  options: { readonly into?: StoreFolder; readonly parts?: number } = {},
): Promise<StoreFolder> {
  // A process has one embedded engine.
  await exporting.close();
  const into = options.into ?? (await StoreFolder.open(t));
  const { writer, engine } = into.store;
  assert(writer !== null);
  const source = openFolderLake(folder);
  const manifest = await readManifest(source, null);
  const reader = await getReader(t, engine, into.path);
  const abort = new AbortController();
  let parts = 0;
  const onPart = () => {
    parts += 1;
    if (parts === options.parts) abort.abort(new Error("stopped"));
  };
  await importLake({ source, manifest, store: writer, reader, signal: abort.signal, onPart }).catch(
    (thrown: unknown) => {
      if (!abort.signal.aborted) throw thrown;
    },
  );
  return into;
}

/** The columns of `trades` that are bytes, and text in rows of the API. */
const bytesColumns: ReadonlySet<string> = new Set(
  "maker taker exchange_address builder metadata block_hash tx_hash".split(" "),
);

/** Returns the SQL of trades of the API, as a reader of a lake gets them: `read` returns the SQL of the files of a table. */
export function selectApiTrades(
  fields: readonly string[],
  read: (table: string) => string,
): string {
  const columns = fields.map((name) => `${toApiField(name)} AS ${name}_`);
  return `SELECT ${columns.join()} FROM ${read("trades")} AS trades JOIN ${read("fills")} AS fills USING (seq) ORDER BY seq_`;
}

function toApiField(name: string): string {
  if (name === "id") return `${toHex("trades.tx_hash")} || '-' || trades.log_index`;
  if (name === "maker_order_hash") return toHex("fills.order_hash");
  if (name === "taker_order_hash")
    return `nullif(${toHex("fills.taker_order_hash")}, '${zeroHash}')`;
  return bytesColumns.has(name) ? toHex(`trades.${name}`) : `trades.${name}`;
}

function toHex(column: string): string {
  return `'0x' || lower(hex(${column}))`;
}

/** Only the embedded engine reads local files. */
export async function getReader(t: TestContext, engine: Engine, folder: string): Promise<Engine> {
  if (!isOnServer) return engine;
  const reader = await ChdbEngine.open(join(folder, "reader"));
  cleanUp(t, () => reader.close());
  return reader;
}

/** The blocks through the last one with facts of the last complete day. */
export function finalDays(
  blocks: readonly BlockFacts[],
  manifest: Manifest,
): readonly BlockFacts[] {
  const last = blocks.at(-1)?.timestamp ?? 0;
  const end = last - (last % daySeconds);
  const filled = blocks.filter(
    ({ timestamp, fills, events, quarantined }) =>
      timestamp < end && fills.length + events.length + quarantined.length > 0,
  );
  assert.equal(manifest.last_block.number, filled.at(-1)?.number);
  return blocks.filter(({ number }) => number <= manifest.last_block.number);
}
