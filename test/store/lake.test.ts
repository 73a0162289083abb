/** A store that is filled from a lake equals the one that the lake was exported from, and files for readers equal the API. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdir, readFile, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { version } from "../../src/base/config/version.ts";
import type { TokenId } from "../../src/base/ids.ts";
import { openFolderLake } from "../../src/lake/folder-lake.ts";
import { readManifest, remainingSlices } from "../../src/lake/import-lake.ts";
import { LakeError } from "../../src/lake/lake-error.ts";
import type { LakeSlice } from "../../src/lake/manifest.ts";
import { emptyBlock } from "../../src/market/block-facts.ts";
import { type FactsIdentity, toIdentity } from "../../src/storage/directory/identity.ts";
import type { Engine } from "../../src/storage/engine/engine.ts";
import { finishRepair, orderRepair } from "../../src/storage/recovery/repair.ts";
import { assertTablesHold } from "../support/assert-tables-hold.ts";
import { embeddedOnly } from "../support/open-facts.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { encode } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";
import {
  assertComplete,
  exported,
  finalDays,
  getApiTrades,
  getReader,
  getRecipe,
  imported,
  openFilled,
  toContents,
  toTexts,
} from "../support/test-lake.ts";

/** The parts of a test lake have few rows, so that there are several in a day. */
const smallParts = { partRows: 40 };

test("an interrupted import continues until every table has the same rows, and refuses a store with other blocks", async (t) => {
  const filled = await openFilled(t, 1);
  const manifest = await exported(filled, smallParts);
  assert(manifest.slices.length > 5);
  const into = await imported(t, filled, { parts: 2 });
  const done = into.store.coverage;
  assert(done !== null && done.last.number < manifest.last_block.number);
  await into.reopen();
  await imported(t, filled, { into });
  await assertTablesHold(await into.reopen(), finalDays(filled.blocks, manifest));
  // The next start finds it complete.
  const { coverage } = into.store;
  assert.deepEqual(remainingSlices(manifest, coverage), []);
  assert.throws(
    () => remainingSlices({ ...manifest, first_block: manifest.first_block - 1 }, coverage),
    /the store is not empty/,
  );
});

test("later exports add days, and a lake written in one run is the same", async (t) => {
  const filled = await openFilled(t, 3);
  const all = await exported({ ...filled, folder: `${filled.folder}-all` }, smallParts);
  const dates = [...new Set(all.slices.map(({ date }) => date))];
  const middle = dates[dates.length >> 1];
  await exported(filled, { ...smallParts, to: middle });
  const manifest = await exported(filled, smallParts);
  assert.deepEqual(manifest, all);
  assert.deepEqual(await exported(filled, smallParts), all);
});

test("a lake can begin with a later day", async (t) => {
  const filled = await openFilled(t, 4);
  const all = await exported({ ...filled, folder: `${filled.folder}-all` }, smallParts);
  const from = all.slices.at(-1)?.date;
  const manifest = await exported(filled, { ...smallParts, from });
  const expected = finalDays(filled.blocks, manifest).filter(
    ({ number }) => number >= manifest.first_block,
  );
  const { store } = await imported(t, filled);
  await assertTablesHold(store, expected);
});

test("files of trades and candles equal the lists of the API", async (t) => {
  const filled = await openFilled(t, 5);
  const manifest = await exported(filled);
  const { folder, store } = filled;
  const reader = await getReader(t, store.engine, folder);
  const expected = getApiTrades(filled, manifest);
  const names = Object.keys(expected[0] ?? {});
  const recipe = getRecipe("Trades of the API in ClickHouse", folder);
  const rows = await reader.query(`SELECT ${names.join()} FROM (${recipe}) ORDER BY seq`);
  const named = rows.map((row) =>
    Object.fromEntries(names.map((name, index) => [name, row[index]])),
  );
  assert.deepEqual(named.map(toTexts), expected.map(toTexts));
  const read = (table: string) => `file('${folder}/${table}/*/*.parquet', 'Parquet')`;
  const [sums] = await reader.query(
    `SELECT sum(trades), sum(volume_usd) FROM ${read("candles_1m")}`,
  );
  const [priced] = await reader.query(
    `SELECT count(), sum(value_usd) FROM ${read("trades")} WHERE price IS NOT NULL`,
  );
  assert.deepEqual(sums, priced);
  const [pruned] = await reader.query(
    `SELECT count() FROM ${read("trades")} WHERE timestamp >= toDateTime64('2100-01-01 00:00:00', 3, 'UTC')`,
  );
  assert.deepEqual(pruned, [0]);
});

test("a day may have any number of tokens, with outcomes of any name", async (t) => {
  const filled = await openFilled(t, 9);
  const outcome = `${"Will it be '\\'? ".repeat(20_000)}\n\t\u0000`;
  const getToken = (tokenId: TokenId) => ({
    ...filled.state.directory.getToken(tokenId),
    outcome,
  });
  await exported(filled, { getToken });
  const reader = await getReader(t, filled.store.engine, filled.folder);
  const rows = await reader.query(
    `SELECT DISTINCT outcome FROM file('${filled.folder}/trades/*/*.parquet', 'Parquet')`,
  );
  assert.deepEqual(rows, [[outcome]]);
});

test("a changed, cut, missing or linked file and a changed manifest are refused in a sentence", async (t) => {
  const filled = await openFilled(t, 6);
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const manifest = await exported(filled, { signKey: privateKey });
  const { folder } = filled;
  const path = join(folder, manifest.slices[0]?.files["fills"]?.path ?? "");
  const original = await readFile(path);
  const changed = Buffer.from(original);
  changed[100] = (changed[100] ?? 0) ^ 1;
  const cases: readonly [() => Promise<void>, RegExp][] = [
    [() => writeFile(path, changed), /fills\/date=\S+ was changed: its SHA-256/],
    [() => writeFile(path, original.subarray(1)), /has \d+ bytes, and the manifest says \d+/],
    [() => writeFile(path, Buffer.concat([original, original])), /more than \d+ bytes/],
    [() => rm(path), /has no fills\/date=/],
    [
      async () => {
        await rm(path);
        await symlink("/etc/hostname", path);
      },
      /symbolic link/,
    ],
    [
      async () => {
        await rm(path);
        execFileSync("mkfifo", [path]);
      },
      /is not a file/,
    ],
    [
      async () => {
        await rm(path);
        await mkdir(path);
      },
      /is not a file/,
    ],
  ];
  await filled.source.close();
  const into = await StoreFolder.open(t);
  for (const [damage, message] of cases) {
    await damage();
    await assert.rejects(
      imported(t, filled, { into }),
      (thrown) => thrown instanceof LakeError && message.test(thrown.message),
    );
    await rm(path, { force: true, recursive: true });
    await writeFile(path, original);
  }
  const day = dirname(path);
  await rename(day, `${folder}-day`);
  await symlink(`${folder}-day`, day);
  await assert.rejects(imported(t, filled, { into }), /date=\S+ is a symbolic link/);
  await rm(day);
  await rename(`${folder}-day`, day);
  const named = [...Object.values(manifest.slices[0]?.files ?? {}), manifest.markets];
  assert(named.length > 4);
  for (const file of named) {
    const one = join(folder, file?.path ?? "");
    const bytes = await readFile(one);
    const other = Buffer.from(bytes);
    other[bytes.length >> 1] = (other[bytes.length >> 1] ?? 0) ^ 1;
    await writeFile(one, other);
    await assert.rejects(imported(t, filled, { into }), /was changed: its SHA-256/, one);
    await rm(one);
    await assert.rejects(imported(t, filled, { into }), /has no /, one);
    await writeFile(one, bytes);
  }
  const text = await readFile(join(folder, "manifest.json"), "utf8");
  const source = openFolderLake(folder);
  await readManifest(source, publicKey);
  const manifests: readonly [string, RegExp][] = [
    [text.replace('"layout":1', '"layout":2'), /layout 2.*upgrade/],
    [text.replace('"chain_id":137', '"chain_id":138'), /signature.*not valid/],
    [text.replace(/,"signature".*/, "}"), /not signed/],
    [text.slice(0, -9), /damaged/],
    [text.replace("fills/date", "../fills/date"), /damaged/],
    ["[]", /damaged/],
    ["", /damaged/],
  ];
  for (const [wrong, message] of manifests) {
    await writeFile(join(folder, "manifest.json"), wrong);
    await assert.rejects(readManifest(source, publicKey), message);
  }
  await truncate(join(folder, "manifest.json"), 2 ** 30);
  await assert.rejects(readManifest(source, publicKey), /has more than 268435456 bytes/);
  const other = generateKeyPairSync("ed25519").publicKey;
  await writeFile(join(folder, "manifest.json"), text);
  await assert.rejects(readManifest(source, other), /not valid for the key of --verify-key/);
});

/** An engine that fails after it has encoded some files. */
function failAfter(engine: Engine, files: number): Engine {
  let left = files;
  return new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name !== "queryBinary" || typeof value !== "function")
        return typeof value === "function" ? value.bind(target) : value;
      return (...given: unknown[]): unknown => {
        left -= 1;
        if (left < 0) throw new Error("the process is killed");
        return Reflect.apply(value, target, given);
      };
    },
  });
}

test("an export that fails leaves the lake as it was", async (t) => {
  const filled = await openFilled(t, 7);
  const all = await exported({ ...filled, folder: `${filled.folder}-all` }, smallParts);
  const before = await exported(filled, { ...smallParts, to: all.slices[0]?.date });
  const engine = failAfter(filled.store.engine, 2);
  await assert.rejects(exported(filled, { ...smallParts, engine }), /killed/);
  assert.deepEqual(await assertComplete(filled.folder), before);
  assert.deepEqual(await exported(filled, smallParts), all);
});

test("days that were repaired are written again, and no others", {
  skip: embeddedOnly,
}, async (t) => {
  const filled = await openFilled(t, 10);
  const { blocks, folder, store } = filled;
  const { engine } = store;
  const parts = { partRows: 300 };
  let before = await exported(filled, parts);
  const end = blocks.findIndex(({ number }) => number === before.last_block.number);
  const emptied = blocks.map(({ number, hash, timestamp }) => ({
    ...emptyBlock,
    number,
    hash,
    timestamp,
  }));
  // Within a day, over the end of a day, and over the end of the lake: facts disappear and come back.
  const repairs = [
    [emptied.slice(2, 4)],
    [blocks.slice(2, 4), emptied.slice(20, 25)],
    [blocks.slice(20, 25), emptied.slice(end - 2, end + 1)],
    [blocks.slice(end - 2, end + 1)],
  ];
  for (const [index, ranges] of repairs.entries()) {
    for (const range of ranges) await orderRepair(engine, encode(range));
    await finishRepair(engine, () => {});
    if (index === 0) {
      const failing = failAfter(engine, 3);
      await assert.rejects(exported(filled, { ...parts, engine: failing }), /killed/);
      assert.deepEqual(await assertComplete(folder), before);
    }
    const written = await exported(filled, parts);
    assert.deepEqual(await assertComplete(folder), written);
    const fresh = await exported({ ...filled, folder: `${folder}-${index}` }, parts);
    assert.deepEqual(toContents(written), toContents(fresh));
    assert.notDeepEqual(toContents(written), toContents(before));
    const isKept = (slice: LakeSlice) => before.slices.some((one) => isDeepStrictEqual(one, slice));
    assert(written.slices.some(isKept) || index > 0);
    before = written;
  }
});

test("a lake that has all days gets what is missing: the snapshot after a crash, a signature, another key", async (t) => {
  const filled = await openFilled(t, 11);
  const { folder } = filled;
  const manifest = await exported(filled);
  assert.equal(manifest.created_by, `oddwire ${version}`);
  const { repairs: _repairs, ...older } = { ...manifest, created_by: "oddwire", markets: null };
  await writeFile(join(folder, "manifest.json"), JSON.stringify(older));
  assert.deepEqual((await exported(filled)).markets, manifest.markets);
  await writeFile(join(folder, "manifest.json"), JSON.stringify({ ...manifest, markets: null }));
  assert.deepEqual(await exported(filled), manifest);
  for (const { privateKey, publicKey } of [
    generateKeyPairSync("ed25519"),
    generateKeyPairSync("ed25519"),
  ]) {
    assert.deepEqual(await exported(filled, { signKey: privateKey }), manifest);
    assert.deepEqual(await readManifest(openFolderLake(folder), publicKey), manifest);
  }
  await assert.rejects(exported(filled), /is signed: set --sign-key/);
});

test("a lake of another chain, other contracts, other wallets or another version is not appended to", async (t) => {
  const filled = await openFilled(t, 12);
  const manifest = await exported(filled);
  const ours = toIdentity(137, knownContracts());
  const others: readonly [change: Partial<FactsIdentity>, message: RegExp][] = [
    [{ chain_id: 1 }, /is of chain 137, and ODDWIRE_CHAIN_ID is 1$/],
    [{ contracts: "0".repeat(64) }, /another list of contracts: set the ODDWIRE_CONTRACTS_FILE/],
    [{ events: "0".repeat(64) }, /made with ODDWIRE_WALLETS=on, and it is off here: set the same/],
    [{ events: `${"0".repeat(64)}-wallets` }, /a version that decodes other events/],
  ];
  for (const [change, message] of others)
    await assert.rejects(
      exported(filled, { identity: { ...ours, ...change } }),
      (thrown) => thrown instanceof LakeError && message.test(thrown.message),
    );
  assert.deepEqual(await exported(filled), manifest);
});

test("an export to what is no folder of a lake, or vanishes, ends with a sentence", async (t) => {
  const filled = await openFilled(t, 13);
  const name = "manifest.json";
  const cases: readonly [prepare: (folder: string) => Promise<unknown>, message: RegExp][] = [
    [(folder) => mkdir(join(folder, name)), /manifest\.json is not a file$/],
    [(folder) => symlink("/etc/hostname", join(folder, name)), /is a symbolic link/],
    [async (folder) => execFileSync("mkfifo", [join(folder, name)]), /is not a file$/],
    [(folder) => writeFile(join(folder, name), "\u0000"), /not a manifest of a lake/],
    [
      async (folder) => {
        await writeFile(join(folder, name), "");
        await truncate(join(folder, name), 2 ** 30);
      },
      /has more than 268435456 bytes/,
    ],
    [(folder) => writeFile(join(folder, "fills"), ""), /no manifest\.json, but fills; choose/],
    [(folder) => mkdir(join(folder, "photos")), /no manifest\.json, but photos; choose/],
    [
      async (folder) => {
        await mkdir(join(folder, "trades"));
        await writeFile(join(folder, "trades/mine.csv"), "");
      },
      /no manifest\.json, but trades\/mine\.csv; choose/,
    ],
    [
      async (folder) => {
        await rm(folder, { recursive: true });
        await writeFile(folder, "");
      },
      /is not a folder$/,
    ],
    [(folder) => mkdir(join(folder, "lock")), /^the lake cannot be written: /],
  ];
  for (const [index, [prepare, message]] of cases.entries()) {
    const folder = `${filled.folder}-${index}`;
    await mkdir(folder);
    await prepare(folder);
    await assert.rejects(exported({ ...filled, folder }), { message });
  }
  const below = join(`${filled.folder}-0`, "manifest.json");
  await rm(below, { recursive: true });
  await writeFile(below, "");
  const lake = { ...filled, folder: join(below, "lake") };
  await assert.rejects(exported(lake), /manifest\.json\/lake is not a folder$/);
  const onDay = () => rmSync(filled.folder, { recursive: true });
  await assert.rejects(exported(filled, { onDay }), /^\S+: the lake cannot be written: ENOENT/);
  const manifest = await exported(filled);
  assert.deepEqual(await assertComplete(filled.folder), manifest);
  // What a first export leaves when it is killed: its lock, parts, drafts and no manifest.
  await writeFile(join(filled.folder, "lock-journal"), "");
  await rename(join(filled.folder, name), join(filled.folder, `${name}.draft`));
  const [path = ""] = manifest.slices
    .flatMap(({ files }) => Object.values(files))
    .map((f) => f.path);
  await rename(join(filled.folder, path), join(filled.folder, `${path}.draft`));
  assert.deepEqual(await exported(filled), manifest);
  assert.deepEqual(await assertComplete(filled.folder), manifest);
});

test("two exports to one folder do not mix", async (t) => {
  const filled = await openFilled(t, 8);
  const results = await Promise.allSettled([exported(filled), exported(filled)]);
  assert.deepEqual(results.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
});
