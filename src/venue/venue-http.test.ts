import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { cleanUp } from "../../test/support/clean-up.ts";
import { venueLimits } from "../base/config/venue-limits.ts";
import { VenueError } from "./venue-error.ts";
import { VenueHttp, type VenueRequest } from "./venue-http.ts";

const read = (json: unknown) => (json === "other" ? null : json);
const get: VenueRequest<unknown> = { method: "GET", path: "/book?token_id=1", read };

/** Opens a client of a server that answers with `listener`. The clock advances only when the client sleeps. */
async function openClient(t: TestContext, listener: RequestListener, requestsPer10Seconds = 100) {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const sleeps: number[] = [];
  let nowMs = 0;
  const http = new VenueHttp({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requestsPer10Seconds,
    random: () => 1,
    clock: {
      nowMs: () => nowMs,
      monotonicMs: () => nowMs,
      sleep: async (ms, signal) => {
        signal.throwIfAborted();
        sleeps.push(ms);
        nowMs += ms;
      },
    },
  });
  cleanUp(t, () => {
    server.closeAllConnections();
    server.close();
  });
  const fetch = (request = get): Promise<unknown> =>
    http.fetch(request, new AbortController().signal);
  const fail = async (): Promise<VenueError> => {
    const thrown: unknown = await fetch().catch((error: unknown) => error);
    assert(thrown instanceof VenueError, String(thrown));
    return thrown;
  };
  return { http, fetch, fail, sleeps };
}

test("a compressed answer is parsed, and a body is sent as JSON", async (t) => {
  const { fetch } = await openClient(t, (request, response) => {
    assert.equal(request.headers["accept-encoding"], "gzip");
    response.writeHead(200, { "content-encoding": "gzip" });
    request.on("data", () => {});
    request.on("end", () => response.end(gzipSync(JSON.stringify(request.headers))));
  });
  const answer = await fetch({ method: "POST", path: "/books", body: "[1]", read });
  const { "content-type": type, "content-length": length } = answer as Record<string, string>;
  assert.deepEqual([type, length], ["application/json", "3"]);
});

test("requests keep to the rate, after a small burst", async (t) => {
  const { fetch, sleeps } = await openClient(t, (_request, response) => response.end("1"), 100);
  for (let sent = 0; sent < venueLimits.requestsInBurstMax; sent += 1) await fetch();
  assert.deepEqual(sleeps, []);
  for (let sent = 0; sent < 5; sent += 1) await fetch();
  assert.equal(sleeps.reduce((sum, ms) => sum + ms, 0) >= 400, true, String(sleeps));
});

test("each kind of failure has its own error", async (t) => {
  const answers: readonly (readonly [number, string, string])[] = [
    [404, '{"error":"No orderbook exists"}', "not_found"],
    [400, '{"error":"Invalid token id"}', "refused"],
    [403, "<html>Blocked by a firewall</html>", "unavailable"],
    [302, "", "unavailable"],
    [502, "<html>Bad gateway</html>", "unavailable"],
    [200, "<html>Just a moment</html>", "malformed"],
    [200, '"other"', "malformed"],
    [429, "slow down", "rate_limited"],
  ];
  let at = 0;
  const { fail } = await openClient(t, (_request, response) => {
    const [status = 500, body = ""] = answers[at] ?? [];
    at += 1;
    response.writeHead(status).end(body);
  });
  for (const [, , kind] of answers) assert.equal((await fail()).kind, kind);
});

test("each failure in a row doubles the pause of all requests, and an answer ends it", async (t) => {
  let isUp = false;
  const { fetch, fail, sleeps, http } = await openClient(t, (_request, response) => {
    response.writeHead(isUp ? 200 : 503).end("1");
  });
  for (let failures = 0; failures < 4; failures += 1) await fail();
  assert.deepEqual(sleeps, [250, 500, 1000]);
  assert.deepEqual(http.status, { requests: 4, errors: { unavailable: 4 } });
  isUp = true;
  await fetch();
  await fetch();
  assert.deepEqual(sleeps, [250, 500, 1000, 2000]);
  assert.equal(http.isPaused, false);
});

test("after a refusal the next request waits for Retry-After", async (t) => {
  let requested = 0;
  const { fetch, fail, sleeps } = await openClient(t, (_request, response) => {
    requested += 1;
    response.writeHead(requested === 1 ? 429 : 200, { "retry-after": "7" }).end("1");
  });
  await fail();
  await fetch();
  assert.deepEqual(sleeps, [7000]);
});

test("an uncompressed answer is parsed, also if it arrives in pieces that split a character", async (t) => {
  const text = Buffer.from('{"title":"Zürich"}');
  const { fetch } = await openClient(t, (_request, response) => {
    const middle = text.indexOf("ü") + 1;
    response.write(text.subarray(0, middle), () => response.end(text.subarray(middle)));
  });
  assert.deepEqual(await fetch(), { title: "Zürich" });
});

test("requests that fail at the same time cause one pause, the longest that the venue asks for", async (t) => {
  const rounds = [
    [null, null, null],
    ["5", "1", null],
  ];
  for (const [round, expected] of [
    [0, 250],
    [1, 5000],
  ] as const) {
    const answers: ServerResponse[] = [];
    const { fetch, fail, sleeps, http } = await openClient(t, (_request, response) => {
      answers.push(response);
      if (answers.length > 3) response.end("1");
      if (answers.length !== 3) return;
      for (const [index, answer] of answers.entries()) {
        const seconds = rounds[round]?.[index] ?? null;
        answer.writeHead(503, seconds === null ? {} : { "retry-after": seconds }).end();
      }
    });
    await Promise.all([fail(), fail(), fail()]);
    assert.deepEqual(http.status.errors, { unavailable: 3 });
    await fetch();
    assert.deepEqual(sleeps, [expected]);
  }
});

test("an endless answer is aborted, and a broken connection means unavailable", async (t) => {
  const chunk = Buffer.alloc(1024 * 1024, " ");
  const { fail } = await openClient(t, (_request, response) => {
    const write = (): void => {
      while (response.write(chunk));
      response.once("drain", write);
    };
    write();
  });
  assert.equal((await fail()).kind, "oversized");
  const cut = await openClient(t, (_request, response) => response.destroy());
  assert.equal((await cut.fail()).kind, "unavailable");
});

test("an aborted signal rejects requests in progress", async (t) => {
  const { http } = await openClient(t, () => {});
  const abort = new AbortController();
  const requested = http.fetch(get, abort.signal);
  const reason = new Error("enough");
  setImmediate(() => abort.abort(reason));
  await assert.rejects(requested, reason);
});
