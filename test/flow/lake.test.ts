/** A lake that `oddwire export --lake` writes fills another service, from a folder and from the first service over HTTP. */
import assert from "node:assert/strict";
import { createHash, generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { cp, writeFile } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Metrics } from "../../src/api/metrics/metrics-schema.ts";
import { openFolderLake } from "../../src/lake/folder-lake.ts";
import { readManifest } from "../../src/lake/import-lake.ts";
import { ChdbEngine } from "../../src/storage/embedded/chdb-engine.ts";
import { buildBlocks } from "../support/build-blocks.ts";
import { cleanUp } from "../support/clean-up.ts";
import { ClickHouseServer } from "../support/clickhouse/clickhouse-server.ts";
import { embeddedOnly } from "../support/open-facts.ts";
import { readRecording } from "../support/recorded/recording.ts";
import { serveRecording } from "../support/recorded/serve-recording.ts";
import { runCommand } from "../support/run-command.ts";
import { adminKey, Service } from "../support/service.ts";
import { waitFor } from "../support/wait-for.ts";

const recording = readRecording("contracts-gen2");
const daySeconds = 86_400;

/** Reads every list, and prices and candles of every token. */
async function readEverything(service: Service): Promise<Readonly<Record<string, unknown>>> {
  const read: Record<string, unknown> = {};
  const lists = ["trades", "fills", "matches", "exchange-events", "cancellations", "resolutions"];
  for (const list of lists)
    read[list] = await service.getAllPages(`/v1/${list}?limit=1000&order=asc`);
  const markets = await service.getAllPages("/v1/markets?status=all&sort=created_at&limit=100");
  assert(markets.length > 10);
  const tokens = markets.flatMap(({ tokens: ofMarket }) => ofMarket as { token_id: string }[]);
  for (const { token_id: token } of tokens) {
    for (const path of [`price/${token}`, `candles/${token}?resolution=1m`]) {
      const { status, body } = await service.request(`/v1/${path}`);
      read[path] = [status, (body as { data?: unknown }).data];
    }
  }
  const trades = read["trades"] as { maker: string; taker: string }[];
  for (const wallet of new Set(trades.flatMap(({ maker, taker }) => [maker, taker]))) {
    const { status, body } = await service.request(`/v1/wallets/${wallet}/positions?limit=100`);
    assert.equal(status, 200);
    read[wallet] = (body as { data?: unknown }).data;
  }
  return { ...read, markets };
}

test("a service that is filled from a lake equals the one that wrote it", {
  skip: embeddedOnly,
}, async (t) => {
  const stage = await serveRecording(t, recording);
  // The recording ends within a day, which is final once a block of the next day is.
  const last = recording.blocks.at(-1);
  assert(last !== undefined);
  const [next] = buildBlocks([{ timestamp: last.timestamp + daySeconds }], { after: last });
  assert(next !== undefined);
  stage.node.fork([next]);
  const lake = join(stage.dataDir, "..", "lake");
  const { privateKey, publicKey } = generateKeyPairSync("ed25519", {
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  const verifyKey = join(stage.dataDir, "..", "lake.pem");
  await writeFile(verifyKey, publicKey);
  const wallets = { ODDWIRE_WALLETS: "on" };
  const served = { ...wallets, ODDWIRE_LAKE_DIR: lake, ODDWIRE_LAKE_SIGN_KEY: privateKey };
  const first = await stage.startService([stage.node.url], served);
  await first.waitFinalized(next.number);
  await waitFor("the lake", async () => {
    const { status, body } = await first.request("/v1/lake");
    return status === 200 && (body as { markets: unknown }).markets !== null ? true : null;
  });
  const expected = await readEverything(first);

  const copy = join(stage.dataDir, "..", "copy");
  const settings = { ...stage.commandSettings, ...wallets, ODDWIRE_DATA_DIR: copy };
  const keyFile = join(stage.dataDir, "..", "key");
  await writeFile(keyFile, adminKey);
  const words = ["import", "--lake", `${first.baseUrl}/v1/lake`, "--key-file", keyFile];
  words.push("--verify-key", verifyKey);
  const off = await runCommand(words, { ...settings, ODDWIRE_WALLETS: "off" });
  assert.deepEqual([off.code, off.stdout], [1, ""]);
  assert.match(off.stderr, /made with ODDWIRE_WALLETS=on, and it is off here: set the same\n$/);
  const done = await runCommand(["import", "--lake", await tamper(t, lake)], settings);
  assert.deepEqual([done.code, done.stderr], [0, ""]);
  const again = await runCommand(words, settings);
  assert.match(again.stdout, /is imported already/);
  const server = await ClickHouseServer.open(t);
  const onServer = { ...wallets, ODDWIRE_CLICKHOUSE_URL: server.url };
  const cache = join(stage.dataDir, "..", "cache");
  const filled = await runCommand(words, { ...settings, ...onServer, ODDWIRE_DATA_DIR: cache });
  assert.deepEqual([filled.code, filled.stderr], [0, ""]);

  const whole = await fetch(`${first.baseUrl}/v1/lake/manifest.json`, {
    headers: { "x-api-key": adminKey },
  });
  assert.equal(whole.status, 200);
  const etag = whole.headers.get("etag") ?? "";
  const text = await whole.text();
  const part = await fetch(`${first.baseUrl}/v1/lake/manifest.json`, {
    headers: { "x-api-key": adminKey, range: "bytes=10-19" },
  });
  assert.deepEqual([part.status, await part.text()], [206, text.slice(10, 20)]);
  const beyond = await fetch(`${first.baseUrl}/v1/lake/manifest.json`, {
    headers: { "x-api-key": adminKey, range: `bytes=${text.length}-`, "if-match": "other" },
  });
  assert.deepEqual(
    [beyond.status, beyond.headers.get("content-range")],
    [416, `bytes */${text.length}`],
  );
  // `fetch` would add `Cache-Control: no-cache`, which asks for the whole file.
  const headers = { "x-api-key": adminKey, "if-none-match": etag };
  const [unchanged] = await once(
    get(`${first.baseUrl}/v1/lake/manifest.json`, { headers }),
    "response",
  );
  assert.equal((unchanged as IncomingMessage).statusCode, 304);
  assert.equal((await first.request("/v1/lake/..%2Fdata")).status, 404);
  assert.equal(await first.stop(), 0);

  const contracts = stage.commandSettings["ODDWIRE_CONTRACTS_FILE"] ?? "";
  for (const [dataDir, engine] of [
    [copy, wallets],
    [cache, onServer],
  ] as const) {
    const second = await Service.open({
      rpcUrls: [stage.node.url],
      dataDir,
      settings: {
        ODDWIRE_CONTRACTS_FILE: contracts,
        ODDWIRE_AUDIT_CALLS_PER_MINUTE: "60000",
        ...engine,
      },
    });
    cleanUp(t, () => second.kill9());
    if (dataDir === copy) {
      await waitFor("the repair", async () => {
        const metrics = await second.get<Metrics>("/v1/metrics").catch(() => null);
        return metrics?.indexer.audit.repairs === 1 ? true : null;
      });
      await second.waitReady();
    }
    await second.waitFinalized(next.number);
    assert.deepEqual(await readEverything(second), expected);
    const { checks } = (await second.request("/v1/ready")).body as {
      checks: Record<string, { detail: string }>;
    };
    assert.match(checks["audit"]?.detail ?? "", /audited/);
    assert.equal(await second.stop(), 0);
  }

  // The lake of the server is that of the first service, but for its signature.
  const other = join(stage.dataDir, "..", "other");
  const written = await runCommand(["export", "--lake", other], {
    ...settings,
    ...onServer,
    ODDWIRE_DATA_DIR: cache,
  });
  assert.equal(written.code, 0, written.stderr);
  const manifests = await Promise.all([lake, other].map(readSlices));
  assert.deepEqual(manifests[1], manifests[0]);
  assert(manifests[0]?.some(({ files }) => files["ledger"] && files["balance_changes"]));
});

/** Copies a lake, changes a row of its ledger, and what the manifest says of the file. Returns the copy. */
async function tamper(t: TestContext, lake: string): Promise<string> {
  const folder = `${lake}-tampered`;
  await cp(lake, folder, { recursive: true });
  const manifest = await readManifest(openFolderLake(folder), null);
  const file = manifest.slices.findLast(({ files }) => files["ledger"])?.files["ledger"];
  assert(file !== undefined);
  const path = join(folder, file.path);
  const engine = await ChdbEngine.open(`${folder}-engine`);
  cleanUp(t, () => engine.close());
  const bytes = await engine.queryBinary(
    `SELECT * REPLACE (if(seq = (SELECT quantileExact(0.8)(seq) FROM file('${path}', 'Parquet')), '1234567', shares_raw) AS shares_raw) FROM file('${path}', 'Parquet')`,
    "Parquet",
  );
  await writeFile(path, bytes);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  Object.assign(file, { bytes: bytes.length, sha256 });
  await writeFile(join(folder, "manifest.json"), JSON.stringify(manifest));
  return folder;
}

/** Reads the parts of a lake, without what depends on the engine: another one encodes other bytes. */
async function readSlices(folder: string) {
  const manifest = await readManifest(openFolderLake(folder), null);
  return manifest.slices.map(({ files, ...slice }) => ({
    ...slice,
    files: Object.fromEntries(
      Object.entries(files).map(([table, { rows, path }]) => [table, { rows, path }]),
    ),
  }));
}
