/** `oddwire export` against a service whose limit of rows per file is lower than the number of rows. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { ConditionId } from "../../src/base/ids.ts";
import { cli } from "../support/cli.ts";
import { getIds } from "../support/list-cases.ts";
import { noMetadata } from "../support/no-metadata.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { runCommand } from "../support/run-command.ts";

const folder = await mkdtemp(join(tmpdir(), "oddwire-export-"));
const server = await DataServer.open({ exportRowsMax: 700 });
after(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const { url, keys } = server.edge;
const all = await server.getAll("/v1/trades?order=asc&status=finalized&limit=1000");

function run(...words: string[]) {
  server.edge.clock.advance(60_000);
  return runCommand(["export", ...words, "--url", url, "--key", keys.read]);
}

async function readRows(path: string): Promise<Row[]> {
  const text = await readFile(path, "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);
}

async function readParts(name: string): Promise<Row[][]> {
  const paths = [`${name}.ndjson`];
  for (let number = 2; number <= Math.ceil(all.length / 700); number += 1)
    paths.push(`${name}.${number}.ndjson`);
  return Promise.all(paths.map((path) => readRows(join(folder, path))));
}

test("every row is in one of the files, in order, and no temporary files are left", async () => {
  const { code, stderr } = await run("trades", "--out", join(folder, "all.ndjson"));
  assert.equal(code, 0, stderr);
  assert.match(stderr, /all\.ndjson {2}700 rows {2}[\d.]+ [kM]B\n/);
  const parts = await readParts("all");
  assert(parts.length > 2, "the cap was hit");
  assert.deepEqual(parts.flat(), all);
  assert.deepEqual(
    (await readdir(folder)).filter((name) => /part|unfinished/.test(name)),
    [],
  );
});

test("filters select rows, and a market can be named by its slug or a token", async () => {
  const [first = {}] = all;
  const condition = String(first["condition_id"]);
  const slug = "a-slug";
  const metadata = { ...noMetadata, slug, category: "Art", tags: ["Paint"] };
  server.state.applyMetadata(condition as ConditionId, metadata);
  const ofMarket = all.filter((row) => row["condition_id"] === condition);
  const cheap = all.filter((row) => row["price"] !== null && Number(row["price"]) <= 0.3);
  const large = all.filter((row) => Number(row["value_usd"]) >= 5000);
  assert(ofMarket.length > 0 && cheap.length > 0 && large.length > 0);
  for (const [name, expected, ...words] of [
    ["slug", ofMarket, "--market", slug],
    ["token", ofMarket, "--market", String(first["token_id"])],
    ["slugs", ofMarket, "--slug", `${slug},other`],
    ["category", ofMarket, "--category", "art"],
    ["tag", ofMarket, "--tag", "paint"],
    ["event", [], "--event", "77"],
    ["builder", [], "--builder", `0x${"12".repeat(32)}`],
    ["price", cheap, "--max-price", "0.3", "--min-price", "0"],
    ["value", large, "--min-value", "5000"],
  ] as const) {
    const out = join(folder, `${name}.ndjson`);
    const { code, stderr } = await run("trades", "--out", out, ...words);
    assert.equal(code, 0, stderr);
    const text = await readFile(out, "utf8");
    assert.deepEqual(
      getIds(text === "" ? [] : await readRows(out)),
      getIds(expected.slice(0, 700)),
      name,
    );
  }
  const unknown = await run("trades", "--out", join(folder, "no.ndjson"), "--market", "no-such");
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /No market has this id, token id or slug/);
});

test("an interrupted export resumes after its last complete file", async () => {
  const out = join(folder, "again.ndjson");
  const list = `${url}/v1/trades?format=ndjson&order=asc&status=finalized`;
  const first = await server.get("/v1/trades?format=ndjson&order=asc&status=finalized");
  await writeFile(out, first.text);
  const cursor = first.headers.get("x-next-cursor");
  await writeFile(`${out}.unfinished`, JSON.stringify({ query: list, files: 1, cursor }));
  const other = await run("trades", "--out", out, "--status", "confirmed");
  assert.equal(other.code, 1);
  assert.match(other.stderr, /belongs to a different export/);
  assert.equal((await run("trades", "--out", out)).code, 0);
  assert.deepEqual((await readParts("again")).flat(), all);
});

test("an export does not overwrite any file of an earlier one", async () => {
  const out = join(folder, "left.ndjson");
  for (const name of ["left.2.ndjson", "left.3.ndjson", "left.12.ndjson"]) {
    const path = join(folder, name);
    await writeFile(path, "earlier");
    const { code, stderr } = await run("trades", "--out", out);
    assert.equal(code, 1, stderr);
    assert(stderr.includes(`${name} exists already; delete it or choose another --out`), stderr);
    const left = (await readdir(folder)).filter((one) => one.startsWith("left"));
    assert.deepEqual(left, [name]);
    assert.equal(await readFile(path, "utf8"), "earlier");
    const itself = await run("trades", "--out", path);
    assert.equal(itself.code, 1, "a name that ends in a number");
    assert.equal(await readFile(path, "utf8"), "earlier");
    await rm(path);
  }
});

test("a damaged state file of an unfinished export is reported, and nothing is written", async () => {
  const out = join(folder, "damaged.ndjson");
  for (const text of ["", "{", "null", '{"query":"x","files":-1,"cursor":"y"}']) {
    await writeFile(`${out}.unfinished`, text);
    const { code, stderr } = await run("trades", "--out", out);
    assert.equal(code, 1, text);
    assert.match(stderr, /unfinished is damaged: delete it and the files of that export/);
  }
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.startsWith("damaged")),
    ["damaged.ndjson.unfinished"],
  );
  await rm(`${out}.unfinished`);
});

test("a pipe in place of a file that an export opens is refused", async () => {
  const out = join(folder, "pipe.ndjson");
  for (const ending of [".unfinished", ".unfinished.next", ".part"]) {
    execFileSync("mkfifo", [`${out}${ending}`]);
    const { code, stderr } = await run("trades", "--out", out);
    assert.equal(code, 1, ending);
    assert(stderr.includes(`${ending} is not a file; delete it or choose another --out`), stderr);
    await rm(`${out}${ending}`);
  }
});

test("other lists are exported the same way", async () => {
  const rows = await server.getAll("/v1/matches?order=asc&status=finalized&limit=1000");
  const out = join(folder, "matches.ndjson");
  const { code, stderr } = await run("matches", "--out", out);
  assert.equal(code, 0, stderr);
  assert.deepEqual(await readRows(out), rows.slice(0, 700));
});

test("markets and events are exported oldest first, as NDJSON and Parquet", async () => {
  const rows = await server.getAll("/v1/markets?sort=created_at&order=asc&status=all&limit=100");
  const out = join(folder, "markets.ndjson");
  const { code, stderr } = await run("markets", "--out", out);
  assert.equal(code, 0, stderr);
  assert(rows.length > 0);
  assert.deepEqual(await readRows(out), rows);
  const events = await run("events", "--out", join(folder, "events.parquet"));
  assert.equal(events.code, 0, events.stderr);
});

test("lists of a wallet and of a market are exported in full", async () => {
  const wallet = String(all[0]?.["maker"]);
  const market = String(all.find((row) => row["condition_id"] !== null)?.["condition_id"]);
  const lists = [
    ["positions", `/v1/wallets/${wallet}/positions?order=asc&status=all&limit=100`, "--wallet"],
    ["activity", `/v1/wallets/${wallet}/activity?order=asc&status=finalized&limit=100`, "--wallet"],
    ["pnl", `/v1/wallets/${wallet}/pnl?start=0&limit=100`, "--wallet"],
    ["holders", `/v1/markets/${market}/holders?limit=100`, "--market"],
    ["open-interest", `/v1/markets/${market}/open-interest?start=0&limit=100`, "--market"],
    ["open-interest", "/v1/open-interest?start=0&limit=100"],
  ] as const;
  for (const [index, [list, path, option]] of lists.entries()) {
    const rows = await server.getAll(path);
    assert(rows.length > 0, list);
    const out = join(folder, `${list}-${index}.ndjson`);
    const subject = option && [option, option === "--wallet" ? wallet : market];
    const { code, stderr } = await run(list, ...(subject ?? []), "--out", out);
    assert.equal(code, 0, stderr);
    assert.deepEqual(await readRows(out), rows.slice(0, 700));
  }
  const unnamed = await run("positions", "--out", join(folder, "none.csv"));
  assert.match(unnamed.stderr, /this list needs --wallet <address>/);
});

test("the URL of the service can have a path", async () => {
  const targets: string[] = [];
  const proxy = createServer((request, response) => {
    targets.push(request.url ?? "");
    response.writeHead(404).end("{}");
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  for (const path of ["", "/", "/oddwire", "/oddwire/"]) {
    const words = ["trades", "--out", join(folder, "x.csv"), "--key", keys.read];
    await runCommand(["export", ...words, "--url", `http://127.0.0.1:${port}${path}`]);
  }
  proxy.close();
  assert.deepEqual(
    targets.map((target) => target.split("?")[0]),
    ["/v1/trades", "/v1/trades", "/oddwire/v1/trades", "/oddwire/v1/trades"],
  );
});

test("a file that ends early is requested again, even if its connection ends in order", async () => {
  let cutsLeft = 2;
  // As a proxy that speaks HTTP/1.0 passes on what a broken connection has brought.
  const passOn = async (path: string, response: ServerResponse) => {
    const whole = await fetch(url + path, { headers: { "x-api-key": keys.read } });
    const bytes = new Uint8Array(await whole.arrayBuffer());
    server.edge.clock.advance(1000);
    for (const name of ["x-row-count", "x-next-cursor"])
      if (whole.headers.has(name)) response.setHeader(name, whole.headers.get(name) ?? "");
    response.shouldKeepAlive = false;
    response.useChunkedEncodingByDefault = false;
    response.removeHeader("transfer-encoding");
    response.end(cutsLeft-- > 0 ? bytes.subarray(0, bytes.length - 9) : bytes);
  };
  const proxy = createServer((request, response) => {
    void passOn(request.url ?? "", response);
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  for (const format of ["ndjson", "csv", "parquet", "arrow"]) {
    cutsLeft = 2;
    const out = join(folder, `cut.${format}`);
    const place = ["--url", `http://127.0.0.1:${port}`, "--key", keys.read];
    const { code, stderr } = await runCommand(["export", "resolutions", "--out", out, ...place]);
    assert.equal(code, 0, stderr);
    assert.equal(cutsLeft < 0, true);
    const direct = await fetch(
      `${url}/v1/resolutions?format=${format}&order=asc&status=finalized`,
      { headers: { "x-api-key": keys.read } },
    );
    assert.deepEqual(await readFile(out), Buffer.from(await direct.arrayBuffer()));
  }
  proxy.close();
});

test("an interrupted export ends with exit code 75, try again", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const words = ["export", "trades", "--out", join(folder, "y.csv"), "--key", keys.read];
  const place = ["--url", `http://127.0.0.1:${port}`];
  const child = spawn(process.execPath, [cli, ...words, ...place], { stdio: "ignore" });
  silent.once("request", () => child.kill("SIGINT"));
  assert.deepEqual(await once(child, "exit"), [75, null]);
  silent.closeAllConnections();
  silent.close();
});

test("mistakes are reported before anything is written", async () => {
  const taken = join(folder, "taken.ndjson");
  await mkdir(`${taken}.unfinished`);
  const cases: [string[], RegExp, number][] = [
    [["trades", "--out", join(folder, "x.txt")], /--out ends in one of/, 2],
    [["trades", "--out", join(folder, "all.ndjson")], /exists already/, 1],
    [["trades", "--out", taken], /taken\.ndjson\.unfinished is not a file; delete it or/, 1],
    [
      ["resolutions", "--wallet", `0x${"1".repeat(40)}`, "--out", join(folder, "x.csv")],
      /wallet is not known/,
      1,
    ],
    [["candles", "--out", join(folder, "x.csv")], /this list needs --token <id>/, 2],
    [
      ["candles", "--token", "1", "--out", join(folder, "x.csv")],
      /the service refused: No market or trade has this token id/,
      1,
    ],
    [
      ["trades", "--out", join(folder, "no", "x.csv")],
      /^oddwire: a file cannot be written: ENOENT/,
      1,
    ],
  ];
  for (const [words, message, expected] of cases) {
    const { code, stderr } = await run(...words);
    assert.equal(code, expected, stderr);
    assert.match(stderr, message);
  }
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.startsWith("x.")),
    [],
  );
});
