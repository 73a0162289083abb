/** Both packages as `npm pack` builds them, installed in an empty folder without the source of the checkout. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { runProgram } from "../support/run-command.ts";

type Manifest = Readonly<Record<"dependencies" | "optionalDependencies", Record<string, string>>>;

const root = fileURLToPath(new URL("../../", import.meta.url));
let folder = "";
let modules = "";

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "oddwire-package-"));
  modules = join(folder, "node_modules");
  await mkdir(modules);
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  await unpack(root, "oddwire");
  await unpack(join(root, "clients/typescript"), "oddwire-client");
  const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Manifest;
  const { dependencies, optionalDependencies } = manifest;
  // Dependencies are linked from the checkout, because a test has no registry.
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(root, "node_modules", name), join(modules, name));
  }
});
after(() => rm(folder, { recursive: true }));

/** Packs a folder and unpacks the tarball where a package manager would. */
async function unpack(source: string, name: string): Promise<void> {
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` };
  execFileSync("npm", ["pack", "--pack-destination", folder], { cwd: source, env, stdio: "pipe" });
  const tarball = (await readdir(folder)).find((file) => file.startsWith(`${name}-0`)) ?? "";
  await mkdir(join(modules, name));
  const target = join(modules, name);
  execFileSync("tar", ["-xzf", join(folder, tarball), "--strip-components=1", "-C", target]);
}

async function run(words: readonly string[]) {
  const command = join(modules, "oddwire/bin/oddwire.js");
  return runProgram(process.execPath, [command, ...words], { ODDWIRE_DATA_DIR: folder });
}

test("the package contains the files it needs to run and nothing else", async () => {
  const files = await readdir(join(modules, "oddwire"));
  const expected = ["LICENSE", "NOTICE", "README.md", "bin", "dist", "package.json"];
  assert.deepEqual(files.toSorted(), expected);
  const built = await readdir(join(modules, "oddwire/dist"), { recursive: true });
  assert.deepEqual(
    built.filter((file) => file.includes(".test.")),
    [],
  );
  // The explorer is bundled when the package is built, so that no request waits for it.
  const explorer = await readdir(join(modules, "oddwire/dist/explorer"));
  const names = explorer.map((name) => name.replace(/-[0-9a-f]{16}\./, "."));
  assert.deepEqual(names.toSorted(), ["explorer.css", "explorer.js", "index.html"]);
});

test("commands run from the package, and the demo names its packages if they are missing", async () => {
  assert.match((await run(["--version"])).stdout, /^\d+\.\d+\.\d+\n$/);
  assert.match((await run(["keys", "create"])).stdout, /^ow_read_\w+\n$/);
  await rm(join(modules, "viem"));
  const { code, stderr } = await run(["demo"]);
  await symlink(join(root, "node_modules/viem"), join(modules, "viem"));
  assert.equal(code, 1);
  assert.match(stderr, /^oddwire: the demo needs Anvil and viem.*npm install/);
});

test("the service runs from the package, with its threads, its explorer and the client", async () => {
  const command = join(modules, "oddwire/bin/oddwire.js");
  const flags = ["--rpc-url", "http://127.0.0.1:9", "--port", "0", "--data-dir", "fresh"];
  const { PATH, HOME, TMPDIR } = process.env;
  const child = spawn(process.execPath, [command, "serve", ...flags], {
    cwd: folder,
    env: { PATH, HOME, TMPDIR, ODDWIRE_LOG_LEVEL: "error" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  try {
    const line = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
    const { listening = "", admin_key = "" } = JSON.parse(String(line.value)) as {
      listening?: string;
      admin_key?: string;
    };
    const page = await (await fetch(`${listening}/`)).text();
    const script = /src="([^"]+\.js)"/.exec(page)?.[1] ?? "";
    assert.equal((await fetch(listening + script)).status, 200);
    const requested = { headers: { accept: "text/html" } };
    assert.equal(await (await fetch(`${listening}/nowhere`, requested)).text(), page);
    const headers = { "x-api-key": admin_key };
    const list = await fetch(`${listening}/v1/trades?format=parquet`, { headers });
    assert.deepEqual([list.status, (await list.arrayBuffer()).byteLength > 4], [200, true]);
    const program = `import { OddwireClient } from "oddwire-client";
const client = new OddwireClient({ url: ${JSON.stringify(listening)}, key: process.env.NONE });
console.log((await client.health()).status);`;
    await writeFile(join(folder, "use-client.js"), program);
    const used = await runProgram(process.execPath, [join(folder, "use-client.js")]);
    assert.equal(used.stdout, "ok\n", used.stderr);
  } finally {
    child.kill("SIGTERM");
  }
  assert.deepEqual((await exited)[0], 0);
});

test("an old version of Node is refused in one sentence", async () => {
  const command = join(modules, "oddwire/bin/oddwire.js");
  const pretend = "Object.defineProperty(process.versions, 'node', { value: '20.19.0' })";
  const preload = `data:text/javascript,${encodeURIComponent(pretend)}`;
  const { code, stdout, stderr } = await runProgram(process.execPath, [
    "--import",
    preload,
    command,
    "serve",
  ]);
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /^oddwire needs Node\.js 24 or newer[^\n]+\n$/);
});

test("a missing engine is one sentence with the platform and a command", async () => {
  const command = join(modules, "oddwire/bin/oddwire.js");
  const hooks = `import { registerHooks } from "node:module"; registerHooks({ resolve(name, context, next) {
    if (name.startsWith("@chdb/lib-")) throw Object.assign(new Error(name), { code: "MODULE_NOT_FOUND" });
    return next(name, context); } });`;
  const preload = `data:text/javascript,${encodeURIComponent(hooks)}`;
  const flags = ["serve", "--rpc-url", "http://127.0.0.1:9", "--port", "0"];
  const run = [process.execPath, ["--import", preload, command, ...flags]] as const;
  const { code, stderr } = await runProgram(...run, { ODDWIRE_DATA_DIR: join(folder, "none") });
  const sentence = /the embedded engine is not installed for \w+-\w+: run npm install [^\n]+\n$/;
  assert.match(stderr, sentence);
  assert.equal(code, 2);
});

/** Compiles only if every name in the client's README is exported, and optional values accept `undefined`. */
const consumer = `
import { OddwireClient, OddwireError, type ChannelRequest, type StreamFrame, type Trade } from "oddwire-client";
export async function follow(key: string | undefined, signal: AbortSignal | undefined) {
  const client = new OddwireClient({ url: "http://127.0.0.1:8080", key });
  for await (const frame of client.stream({ channel: { type: "trades" }, signal })) {
    if (frame.type === "event") { const trade: Trade = frame.data; console.log(trade.price); }
    if (frame.type === "reorg") console.log(frame.reverted);
  }
  for await (const trade of client.trades({ wallet: key })) console.log(trade.size);
  for await (const frame of client.stream({ channel: { type: "candles", token_id: "1", resolution: "1m" } }))
    if (frame.type === "snapshot") for (const candle of frame.data) console.log(candle.close);
  for await (const frame of client.stream({ channel: { type: "orderbook", token_id: "1" } }))
    if (frame.type === "event" && frame.event === "book_stale") console.log(frame.data.stale_reason);
}
type IsTaken<Request> = Request extends ChannelRequest ? true : false;
export const taken: [IsTaken<{ type: "trades" }>, IsTaken<{ type: "candles" }>] = [true, false];
export type Frames = StreamFrame<Trade>;
export const isOurs = (thrown: unknown) => thrown instanceof OddwireError && thrown.code;
`;

test("the types of the client are found, and strict programs compile with them", async () => {
  await writeFile(join(folder, "consumer.ts"), consumer);
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const strict = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--module", "nodenext"];
  const lib = ["--lib", "es2024,dom", "--types", ""];
  const options = [compiler, ...strict, ...lib, "consumer.ts"];
  execFileSync(process.execPath, options, { cwd: folder, stdio: "pipe" });
  const files = await readdir(join(modules, "oddwire-client"), { recursive: true });
  for (const file of ["LICENSE", "README.md", "examples"]) assert(files.includes(file), file);
  // TypeScript's older way to find modules, the default for CommonJS before version 6, ignores `exports`.
  const manifest = await readFile(join(modules, "oddwire-client/package.json"), "utf8");
  const { main, types } = JSON.parse(manifest) as Readonly<Record<"main" | "types", string>>;
  for (const path of [main, types]) assert(files.includes(join(path)), path);
});
