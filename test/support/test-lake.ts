/** A store of generated blocks of several days, its lake, and stores that are filled from it. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import * as fc from "fast-check";
import { type Address, type Hash, type TokenId, toSeq } from "../../src/base/ids.ts";
import { exportLake } from "../../src/lake/export-lake.ts";
import { openFolderLake } from "../../src/lake/folder-lake.ts";
import { importLake, readManifest } from "../../src/lake/import-lake.ts";
import type { LakeExport } from "../../src/lake/lake-export.ts";
import type { Manifest } from "../../src/lake/manifest.ts";
import { type BlockFacts, emptyBlock } from "../../src/market/block-facts.ts";
import { isTrade } from "../../src/market/fill.ts";
import { getRowContext } from "../../src/query/row-context.ts";
import { toMarketFields, toTradeRow } from "../../src/rows/trade-row.ts";
import { toIdentity } from "../../src/storage/directory/identity.ts";
import { ChdbEngine } from "../../src/storage/embedded/chdb-engine.ts";
import type { Engine } from "../../src/storage/engine/engine.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { readText } from "../tidy/project-files.ts";
import { cleanUp } from "./clean-up.ts";
import { anyBlockPlan, buildChain } from "./generate-chain.ts";
import { MemoryStateStore } from "./memory-state-store.ts";
import { isOnServer } from "./open-facts.ts";
import { testSeed } from "./property-settings.ts";
import { knownContracts } from "./recorded-chain.ts";
import { fillStore, getFacts, getFills } from "./store-chain.ts";
import { StoreFolder } from "./store-folder.ts";

const daySeconds = 86_400;
const identity = toIdentity(137, knownContracts());

/** A chain of several days, its store, and where to export it to. */
export async function openFilled(t: TestContext, salt: number) {
  const plans = fc
    .sample(anyBlockPlan(), { seed: testSeed + salt, numRuns: 48 })
    .map((plan, index) => (index % 12 === 11 ? { ...plan, secondsLater: daySeconds } : plan));
  const blocks = getFacts(buildChain(plans)).map(withLedger).map(withTransfer);
  const source = await StoreFolder.open(t);
  const { store } = source;
  const state = new MarketState(knownContracts(), new MemoryStateStore());
  store.addView(state);
  await fillStore(store, { final: blocks, unfinalized: [], sizes: [7, 1, 13] });
  await store.loadView(state);
  return { blocks, source, store, state, folder: join(source.path, "lake") };
}

/** Adds the ledger of the makers of a block. Generated logs have no transfers of tokens, from which a ledger is derived. */
function withLedger(block: BlockFacts): BlockFacts {
  const rows = block.fills.map((fill) => {
    const { seq, timestamp, tokenId, maker: wallet, makerSide, size: amount } = fill;
    return {
      fill,
      seq,
      timestamp,
      tokenId,
      wallet,
      shares: makerSide === "BUY" ? amount : -amount,
    };
  });
  return {
    ...block,
    balances: rows.map(({ fill: _fill, ...change }) => change),
    ledger: rows.map(({ fill: { txHash, value, fee, taker, exchange }, ...change }) => ({
      ...change,
      sub: 0,
      txHash,
      kind: "trade",
      role: "maker",
      nature: null,
      cash: -value,
      fee,
      feeShares: 0n,
      counterparty: taker,
      via: exchange.address,
    })),
  };
}

/** Adds a transfer to the last block of each day, and removes all else from it: such a block is in no table with hashes. */
function withTransfer(block: BlockFacts, index: number): BlockFacts {
  if (index % 12 !== 10) return block;
  const { number, timestamp } = block;
  const change = {
    seq: toSeq(number, 0),
    timestamp,
    tokenId: `0x${"7e".repeat(32)}` as TokenId,
    wallet: `0x${"7e".repeat(20)}` as Address,
    shares: 5n,
  };
  const row = { sub: 0, kind: "transfer_in", role: null, nature: null, via: null } as const;
  const free = { cash: 0n, fee: 0n, feeShares: 0n, counterparty: null };
  const txHash = `0x${"7e".repeat(32)}` as Hash;
  return {
    ...block,
    ...emptyBlock,
    balances: [change],
    ledger: [{ ...change, ...row, ...free, txHash }],
  };
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
    getToken: (tokenId) => state.directory.getToken(tokenId),
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

/** Reads the manifest of a lake, and asserts that the folder has its files as it says. */
export async function readVerified(folder: string): Promise<Manifest> {
  const manifest = await readManifest(openFolderLake(folder), null);
  for (const { path, sha256 } of getFiles(manifest)) {
    const bytes = await readFile(join(folder, path));
    assert.equal(createHash("sha256").update(bytes).digest("hex"), sha256, path);
  }
  return manifest;
}

/** Asserts that a folder has the files of its manifest, and no others. */
export async function assertComplete(folder: string): Promise<Manifest> {
  const manifest = await readVerified(folder);
  const found = (await readdir(folder, { recursive: true })).filter((name) => /\/part-/.test(name));
  assert.deepEqual(
    found.toSorted(),
    getFiles(manifest)
      .map(({ path }) => path)
      .toSorted(),
  );
  return manifest;
}

function getFiles({ slices }: Manifest) {
  return slices.flatMap(({ files }) => Object.values(files));
}

/** Returns the slices without the names of their files, which a repair changes. */
export function toContents({ slices }: Manifest) {
  return slices.map(({ files, ...slice }) => ({
    ...slice,
    files: Object.entries(files).map(([table, { path: _path, ...file }]) => [table, file]),
  }));
}

/** Returns the example of a tool in the page of the lake, for a lake in a folder. */
export function getRecipe(tool: string, folder: string): string {
  const page = readText("docs/lake.md");
  const [, code] = new RegExp(`^${tool}:\n\n\`\`\`\\w+\n(.*?)\`\`\``, "ms").exec(page) ?? [];
  assert(code !== undefined && code.includes("lake/"), tool);
  return code.replaceAll("lake/", `${folder}/`);
}

/** Returns the rows of the API that a lake holds. */
export function getApiTrades({ blocks, state }: Filled, manifest: Manifest) {
  const context = getRowContext({ facts: { coverage: null }, state });
  const trades = getFills(finalDays(blocks, manifest)).filter(isTrade);
  return trades.map((fill) => ({
    ...toTradeRow(fill, context),
    ...toMarketFields(context.getToken(fill.tokenId).market),
    status: "finalized",
  }));
}

/** A value of any reader as text, without the zeros that the scale of a column adds to decimals. */
export function toText(value: unknown): string | null {
  if (value === null) return null;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /^-?\d+\.\d+$/.test(text) ? text.replace(/\.?0+$/, "") : text;
}

export function toTexts(row: object): Readonly<Record<string, string | null>> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toText(value)]));
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
