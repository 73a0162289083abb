/** Every example runs against a real service, and together they call every endpoint. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { after, before, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Observation } from "../../src/api/metrics/request-meter.ts";
import { DataServer } from "../support/open-data-server.ts";
import { systemSettings } from "../support/system-settings.ts";

const folder = new URL("../../clients/typescript/examples/", import.meta.url);
const examples = readdirSync(folder).filter((name) => name !== "connect.ts");

/** Pages for people and tools, files, and the stream, which does not answer a request. The client does not call them. */
const notForClients = [
  "GET /docs",
  "GET /v1/openapi.json",
  "GET /v1/stream",
  "GET /v1/lake/manifest.json",
  "GET /v1/lake/markets/snapshot.parquet",
  "GET /v1/lake/{table}/{day}/{part}",
];

suite("examples", () => {
  const answered: Observation[] = [];
  let server: DataServer;
  before(async () => {
    server = await DataServer.open({ observe: (observation) => answered.push(observation) });
    const { clock, access } = server.edge;
    access.ipBlocks.put({
      bucket: "192.0.2.7",
      reason: "failed_authentication",
      offenses: 1,
      blockedAtMs: clock.nowMs(),
      blockedUntilMs: clock.nowMs() + 3_600_000,
    });
  });
  after(async () => server.close());

  for (const name of examples) {
    test(`${name} runs and prints something`, async () => {
      assert.notEqual(await runExample(name, server), "");
    });
  }

  test("every endpoint has an example", () => {
    const requested = new Set(
      answered
        .filter(({ status }) => status < 300)
        .map(({ method, route }) => `${method} ${route}`),
    );
    const endpoints = server.routes.map(({ method, path }) => `${method} ${path}`);
    const missing = endpoints.filter(
      (line) => !requested.has(line) && !notForClients.includes(line),
    );
    assert.deepEqual(missing, []);
  });
});

/** Returns the standard output of an example. Rejects if the example fails. */
async function runExample(name: string, { edge }: DataServer): Promise<string> {
  const env = {
    ...systemSettings(),
    ODDWIRE_URL: edge.url,
    ODDWIRE_API_KEY: edge.keys.admin,
  };
  return new Promise((resolve, reject) => {
    const words = [fileURLToPath(new URL(name, folder))];
    execFile(process.execPath, words, { env }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${name}: ${stderr}`));
    });
  });
}
