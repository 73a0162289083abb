/** Files that never end, to test their bounds: back-pressure, simultaneous files, keys that end. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Server } from "node:http";
import { connect, type Socket } from "node:net";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { pino } from "pino";
import { type Static, Type } from "typebox";
import { BulkAnswers } from "../../src/api/bulk/bulk-answers.ts";
import type { Observation } from "../../src/api/metrics/request-meter.ts";
import { Cursors } from "../../src/api/route/cursor.ts";
import { defineRoute, type Route } from "../../src/api/route/route.ts";
import { assertError, openTestServer, type RouteParts } from "../support/open-test-server.ts";
import { waitFor } from "../support/wait-for.ts";

const row = Type.Object({ text: Type.String() });
const chunk = Array.from({ length: 100 }, () => ({ text: "x".repeat(10_000) }));

/** The number of 1 MB chunks that were read, and of files that were closed. */
const seen = { chunks: 0, ended: 0 };

/** Opening a file waits for `opening`. */
const gate = { opening: async (): Promise<void> => undefined };

const server = await openTestServer({ makeRoutes });
after(() => server.close());
const { read, write, admin } = server.keys;

function makeRoutes({ access }: RouteParts, checkEveryMs = 3_600_000): readonly Route[] {
  const log = pino({ level: "silent" });
  const cursors = new Cursors(randomBytes(32), () => 0);
  const { keys } = access;
  const answers = new BulkAnswers({ rowsMax: 1000, cursors, keys, log, checkEveryMs });
  const endless = defineRoute({
    path: "/v1/endless",
    access: "read",
    summary: "Rows without end",
    querystring: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
      fails: Type.Optional(Type.Integer({ minimum: 1, maximum: 1 })),
    }),
    response: Type.Object({}),
    handler: ({ query }, reply) =>
      answers.answer(reply, {
        format: "ndjson",
        row,
        path: "/v1/endless",
        query,
        openFile: async () => {
          await gate.opening();
          if (query.limit === 1) return { rowCount: 2, edge: null, chunks: [chunk.slice(0, 1)] };
          const chunks = query.fails === undefined ? endlessChunks() : failingChunks();
          return { rowCount: Infinity, edge: null, chunks };
        },
        writer: () => (one: Static<typeof row>) => JSON.stringify(one),
      }),
  });
  return [endless];
}

async function* endlessChunks() {
  try {
    for (;;) {
      seen.chunks += 1;
      yield chunk;
    }
  } finally {
    seen.ended += 1;
  }
}

async function* failingChunks() {
  yield chunk;
  throw new Error("the engine failed");
}

async function openFile(
  key: string,
  query = "",
  url = server.url,
): Promise<{ response: Response; leave: () => Promise<void> }> {
  const leaving = new AbortController();
  const { signal } = leaving;
  const headers = { "x-api-key": key };
  const response = await fetch(`${url}/v1/endless${query}`, { headers, signal });
  assert.equal(response.status, 200);
  const { ended } = seen;
  const leave = async () => {
    leaving.abort();
    await waitFor("the end of a file", async () => (seen.ended > ended ? true : null));
  };
  return { response, leave };
}

function countConnections(node: Server): Promise<number> {
  return promisify(node.getConnections.bind(node))();
}

async function refuse(key: string): Promise<void> {
  const answer = await server.request("GET", "/v1/endless", { key });
  assert.equal(
    assertError(answer, "SERVICE_UNAVAILABLE").message,
    "Too many exports are under way",
  );
  assert(Number(answer.headers.get("retry-after")) >= 1);
}

test("a client that does not read is sent only what buffers hold, and nothing once it disconnects", async () => {
  const { leave } = await openFile(read);
  let before = -1;
  await waitFor("chunks to stop coming", async () => {
    const isStill = seen.chunks === before;
    before = seen.chunks;
    return isStill ? true : null;
  });
  assert(seen.chunks < 50, `${seen.chunks} MB were read for a client that takes nothing`);
  await leave();
  assert.equal(seen.chunks <= before + 1, true);
});

test("503: more than three open files of a key, or eight of all keys", async () => {
  const first = await openFile(read);
  const files = [await openFile(read), await openFile(read)];
  await refuse(read);
  for (const key of [write, write, write, admin, admin]) files.push(await openFile(key));
  await refuse(admin);
  await first.leave();
  files.push(await openFile(admin));
  await refuse(read);
  // A page in a file format does not count as an open file.
  files.push(await openFile(read, "?limit=1000"));
  for (const { leave } of files) await leave();
});

test("a client that reads too slowly is disconnected, which frees its slot", async () => {
  const own = await openTestServer({ makeRoutes: (parts) => makeRoutes(parts, 500) });
  const headers = { "x-api-key": own.keys.read };
  const response = await fetch(`${own.url}/v1/endless`, { headers });
  assert.equal(response.status, 200);
  await waitFor("the end of the connection", async () =>
    (await countConnections(own.http.node)) === 0 ? true : null,
  );
  await assert.rejects(response.text());
  await own.close();
});

test("a client that disconnects before the first row frees its slot and counts as no failure", async () => {
  // A separate server, so that no connection of an earlier test is open or closes during this one.
  const failures: (string | null)[] = [];
  const observe = ({ code }: Observation): void => {
    if (code !== null) failures.push(code);
  };
  const own = await openTestServer({ makeRoutes, observe });
  for (let round = 0; round < 3; round += 1) {
    const leaving = new AbortController();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    gate.opening = async () => {
      leaving.abort();
      // With no connection left, the server knows that this client is gone.
      const ended = waitFor("the connection to end", async () =>
        (await countConnections(own.http.node)) === 0 ? true : null,
      );
      await ended.then(() => resolve(), reject);
    };
    const headers = { "x-api-key": own.keys.write };
    const requested = fetch(`${own.url}/v1/endless`, { headers, signal: leaving.signal });
    await assert.rejects(requested, { name: "AbortError" });
    await promise;
  }
  gate.opening = async () => undefined;
  const files = [
    await openFile(own.keys.write, "", own.url),
    await openFile(own.keys.write, "", own.url),
  ];
  for (const { leave } of files) await leave();
  assert.deepEqual(failures, []);
  assert.deepEqual(own.logged, []);
  await own.close();
});

for (const version of ["1.0", "1.1"] as const) {
  test(`HTTP/${version}: a revoked key gets no further row, and the file does not end as if it were complete`, async () => {
    const input = { name: "short", scope: "read", expiresAtMs: null, allowedIps: [] } as const;
    const { key, value } = await server.access.keys.create(input);
    const { ending } = await readRaw(server.url, { version, key: value });
    await server.access.keys.revoke(key.id);
    assert.equal(await ending, "ECONNRESET");
  });

  test(`HTTP/${version}: a failure within a file resets the connection`, async () => {
    const { ending } = await readRaw(server.url, { version, key: read, query: "?fails=1" });
    assert.equal(await ending, "ECONNRESET");
  });

  test(`HTTP/${version}: a file with other rows than its header says resets the connection`, async () => {
    const { ending } = await readRaw(server.url, { version, key: read, query: "?limit=1" });
    assert.equal(await ending, "ECONNRESET");
  });

  test(`HTTP/${version}: the connection of a client that reads too slowly is reset`, async () => {
    const own = await openTestServer({ makeRoutes: (parts) => makeRoutes(parts, 500) });
    const { socket, ending } = await readRaw(own.url, { version, key: own.keys.read });
    socket.pause();
    await waitFor("the end of the connection", async () =>
      (await countConnections(own.http.node)) === 0 ? true : null,
    );
    socket.resume();
    assert.equal(await ending, "ECONNRESET");
    await own.close();
  });
}

/** Requests a file and reads until its connection ends: the error code, or "FIN" after an end in order. */
async function readRaw(
  url: string,
  { version, key, query = "" }: { version: "1.0" | "1.1"; key: string; query?: string },
): Promise<{ readonly socket: Socket; readonly ending: Promise<string> }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const ending = new Promise<string>((resolve) => {
    socket.once("end", () => resolve("FIN"));
    socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve(String(code)));
  });
  socket.write(
    `GET /v1/endless${query} HTTP/${version}\r\nHost: ${hostname}\r\nX-API-Key: ${key}\r\n\r\n`,
  );
  await Promise.race([once(socket, "data"), ending]);
  socket.resume();
  return { socket, ending };
}

test("a file still open when the service stops is cut off, read or not, and does not end as if it were complete", async () => {
  const own = await openTestServer({ makeRoutes, drainTimeoutMs: 500 });
  const { ended } = seen;
  const get = async () =>
    fetch(`${own.url}/v1/endless`, { headers: { "x-api-key": own.keys.read } });
  const [taken, stalled] = [await get(), await get()];
  const taking = assert.rejects(async () => {
    for await (const _piece of taken.body ?? []);
  });
  const raw = [];
  for (const version of ["1.0", "1.1"] as const)
    raw.push(await readRaw(own.url, { version, key: own.keys.write }));
  // Resolves, however much is left to send.
  await own.close();
  await taking;
  for (const { ending } of raw) assert.equal(await ending, "ECONNRESET");
  await assert.rejects(stalled.text());
  await waitFor("the end of both", async () => (seen.ended >= ended + 2 ? true : null));
});
