/**
 * Whole demos, as `npm run demo` and `npm run demo:cluster` start them: next to each other, on the requested port and in
 * the requested folder.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Metrics } from "../../src/api/metrics/metrics-schema.ts";
import { cleanUp } from "../support/clean-up.ts";
import { systemSettings } from "../support/system-settings.ts";
import { waitFor } from "../support/wait-for.ts";

const script = fileURLToPath(new URL("../../demo/demo.ts", import.meta.url));

/** A running demo. The end of the test stops it and its processes. */
class Demo {
  output = "";
  readonly #child: ChildProcess;
  readonly exited: Promise<number | null>;

  constructor(
    t: TestContext,
    settings: Readonly<Record<string, string>>,
    flags: readonly string[] = [],
  ) {
    const env = { ...systemSettings(), ...settings };
    this.#child = spawn(process.execPath, [script, ...flags], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.exited = once(this.#child, "exit").then(([code]) => code as number | null);
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
      });
    }
    cleanUp(t, async () => this.stop());
  }

  /** Waits until the output matches, and returns the first group of the pattern. */
  async printed(pattern: RegExp): Promise<string> {
    return waitFor(String(pattern), async () => {
      assert.equal(this.#child.exitCode, null, this.output);
      return pattern.exec(this.output)?.[1] ?? null;
    });
  }

  async stop(): Promise<number | null> {
    this.#child.kill("SIGTERM");
    return this.exited;
  }
}

async function makeFolder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  cleanUp(t, async () => rm(path, { recursive: true, force: true }));
  return path;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert(address !== null && typeof address === "object");
  server.close();
  await once(server, "close");
  return address.port;
}

test("a demo and a demo cluster run next to each other and print the same lines", async (t) => {
  const port = String(await freePort());
  const settings = { ODDWIRE_PORT: port, ODDWIRE_RATE_LIMIT_ADMIN: "777" };
  // The demo ignores an operator's settings of where data comes from.
  const foreign = { ODDWIRE_RPC_URLS: "http://127.0.0.1:9", ODDWIRE_VENUE: "none" };
  const first = new Demo(t, { ...settings, ...foreign, ODDWIRE_DATA_DIR: await makeFolder(t) });
  const second = new Demo(t, { ODDWIRE_DATA_DIR: await makeFolder(t) }, ["--cluster"]);
  assert.equal(await first.printed(/^service {2}(\S+)$/m), `http://127.0.0.1:${port}`);
  const key = await first.printed(/^key {6}(\S+)$/m);
  const answer = await fetch(`http://127.0.0.1:${port}/v1/markets`, {
    headers: { "x-api-key": key },
  });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("x-ratelimit-limit"), "777");
  await first.printed(/^(Trading continues)/m);
  const printed = [...first.output.matchAll(/^curl -s -H 'X-API-Key: \S+' '(\S+)'$/gm)];
  assert.equal(printed.length, 3);
  for (const [, url = ""] of printed)
    assert.equal((await fetch(url, { headers: { "x-api-key": key } })).status, 200, url);
  await assertCluster(second, `http://127.0.0.1:${port}`);
  assert.deepEqual(await Promise.all([first.stop(), second.stop()]), [0, 0]);
  assert.match(first.output, /The next start resumes from here/);
});

/** Asserts that the cluster prints the lines of a demo, and that every node accepts the same key. */
async function assertCluster(demo: Demo, taken: string): Promise<void> {
  const url = await demo.printed(/^service {2}(\S+)$/m);
  assert.notEqual(url, taken);
  const key = await demo.printed(/^key {6}(\S+)$/m);
  assert.equal(await demo.printed(/^explorer (\S+)$/m), `${url}/#key=${key}`);
  const other = await demo.printed(/^The same data, keys and limits: (\S+)$/m);
  assert.notEqual(other, url);
  for (const node of [url, other]) {
    const answer = await fetch(`${node}/v1/metrics`, { headers: { "x-api-key": key } });
    assert.equal(answer.status, 200);
    const { role, cluster } = (await answer.json()) as Metrics;
    assert.equal(role, "api");
    assert.equal(cluster?.redis_up, true);
    assert(cluster.active_node !== null && cluster.feed_term !== null);
  }
}

test("a demo refuses a folder with other files or with a running demo", async (t) => {
  const path = await makeFolder(t);
  await writeFile(join(path, "important"), "");
  const refused = new Demo(t, { ODDWIRE_DATA_DIR: path });
  assert.equal(await refused.exited, 1);
  assert.match(refused.output, /is not a folder of the demo; set ODDWIRE_DATA_DIR to another/);
  await rm(join(path, "important"));
  await writeFile(join(path, "demo.pid"), String(process.pid));
  const second = new Demo(t, { ODDWIRE_DATA_DIR: path });
  assert.equal(await second.exited, 1);
  assert.match(second.output, /a demo runs already in /);
});

test("a demo refuses invalid settings and a port in use before it plays a market", async (t) => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp(t, async () => void server.close());
  const { port } = server.address() as AddressInfo;
  for (const [settings, message, code] of [
    [{ ODDWIRE_PORT: String(port) }, `ODDWIRE_PORT: port ${port} is in use`, 1],
    [{ ODDWIRE_PROT: "1" }, "ODDWIRE_PROT is not a setting; did you mean ODDWIRE_PORT?", 2],
  ] as const) {
    const demo = new Demo(t, { ...settings, ODDWIRE_DATA_DIR: await makeFolder(t) });
    assert.equal(await demo.exited, code);
    assert(demo.output.includes(message), demo.output);
    assert(!demo.output.includes("chain "), demo.output);
  }
});
