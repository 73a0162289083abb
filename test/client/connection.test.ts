/** How the client retries, tested with scripted responses. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { recommendedBackoff, waitAfter } from "../../clients/typescript/src/backoff.ts";
import { OddwireClient } from "../../clients/typescript/src/client.ts";
import { OddwireError } from "../../clients/typescript/src/oddwire-error.ts";
import { type Scripted, serveScripts } from "../support/serve-scripts.ts";

const ok: Scripted = { status: 200, body: { status: "ok", version: "0.1.0", uptime_seconds: 1 } };
const soon = { "Retry-After": "0" };
const quick = { ...recommendedBackoff, firstWaitMs: 1 };

function refusal(status: number, code: string, headers: Record<string, string> = {}): Scripted {
  return { status, headers, body: { error: { code, message: "no", request_id: "r-1" } } };
}

async function getError(asking: Promise<unknown>): Promise<OddwireError> {
  try {
    await asking;
  } catch (thrown) {
    assert.ok(thrown instanceof OddwireError, String(thrown));
    return thrown;
  }
  throw new Error("there was an answer");
}

test("the meta of every answer that has one is reported", async (t) => {
  const meta = { request_id: "r", indexed_seq: 7 };
  const { url } = await serveScripts(t, [{ status: 200, body: { data: {}, meta } }, ok]);
  const reported: unknown[] = [];
  const client = new OddwireClient({ url, key: "k", onMeta: (one) => reported.push(one) });
  await client.market("a");
  await client.health();
  assert.deepEqual(reported, [meta]);
});

describe("the wait between attempts", () => {
  test("is 1000 ms, doubled each time up to 60000 ms, for 3 attempts", () => {
    const waits = [1, 2, 3].map((attempt) => waitAfter(attempt, null, recommendedBackoff));
    assert.deepEqual(waits, [1000, 2000, null]);
    assert.equal(waitAfter(9, null, { ...recommendedBackoff, attempts: 10 }), 60_000);
  });

  test("is the wait that the service requires if that is longer, up to the longest wait", () => {
    assert.equal(waitAfter(1, 7000, recommendedBackoff), 7000);
    assert.equal(waitAfter(1, 200, recommendedBackoff), 1000);
    assert.equal(waitAfter(1, 61_000, recommendedBackoff), null);
  });
});

test("429, 503 and 500 are retried", async (t) => {
  for (const passing of [
    refusal(429, "RATE_LIMITED"),
    refusal(503, "SERVICE_UNAVAILABLE", soon),
    refusal(500, "INTERNAL_ERROR"),
  ]) {
    const { url, requests } = await serveScripts(t, [passing, passing, ok]);
    const client = new OddwireClient({ url, backoff: quick });
    assert.equal((await client.health()).status, "ok");
    assert.equal(requests.length, 3);
  }
});

test("the third refusal is thrown, with all fields of the response", async (t) => {
  const { url, requests } = await serveScripts(t, [refusal(429, "RATE_LIMITED")]);
  const error = await getError(new OddwireClient({ url, backoff: quick }).health());
  assert.deepEqual(
    [error.status, error.code, error.message, error.requestId, error.retryAfterMs],
    [429, "RATE_LIMITED", "no", "r-1", null],
  );
  assert.equal(requests.length, 3);
});

test("a Retry-After above the longest wait is thrown immediately", async (t) => {
  const { url, requests } = await serveScripts(t, [
    refusal(429, "RATE_LIMITED", { "Retry-After": "61" }),
  ]);
  const error = await getError(new OddwireClient({ url }).health());
  assert.equal(error.retryAfterMs, 61_000);
  assert.equal(requests.length, 1);
});

test("a 503 without Retry-After is thrown immediately", async (t) => {
  const { url, requests } = await serveScripts(t, [refusal(503, "SERVICE_UNAVAILABLE")]);
  await getError(new OddwireClient({ url, backoff: quick }).health());
  assert.equal(requests.length, 1);
});

for (const code of ["UNAUTHORIZED", "IP_BLOCKED", "NOT_FOUND", "VALIDATION_ERROR"]) {
  test(`${code} is thrown immediately`, async (t) => {
    const { url, requests } = await serveScripts(t, [refusal(400, code)]);
    assert.equal((await getError(new OddwireClient({ url, backoff: quick }).health())).code, code);
    assert.equal(requests.length, 1);
  });
}

test("a refusal without a key says that none was given", async (t) => {
  const { url } = await serveScripts(t, [
    refusal(401, "UNAUTHORIZED"),
    refusal(401, "UNAUTHORIZED"),
  ]);
  const missing = await getError(new OddwireClient({ url, key: undefined }).health());
  assert.match(missing.message, /^no API key was given/);
  const wrong = await getError(new OddwireClient({ url, key: "ow_read_wrong" }).health());
  assert.doesNotMatch(wrong.message, /no API key/);
});

test("a write is retried only if the service did not execute it", async (t) => {
  const away = await serveScripts(t, [refusal(503, "SERVICE_UNAVAILABLE", soon)]);
  const client = new OddwireClient({ url: away.url, backoff: quick });
  await getError(client.createKey({ name: "mine" }));
  assert.equal(away.requests.length, 1);

  const busy = await serveScripts(t, [
    refusal(429, "RATE_LIMITED"),
    { status: 201, body: { data: { id: "1" } } },
  ]);
  await new OddwireClient({ url: busy.url, backoff: quick }).createKey({ name: "mine" });
  assert.deepEqual(busy.requests, ["POST /v1/keys", "POST /v1/keys"]);
});

test("a response of a proxy is reported as not from the service", async (t) => {
  const headers = { "Content-Type": "text/html" };
  const down = { status: 502, headers, body: "<h1>Bad Gateway</h1>" };
  const { url } = await serveScripts(t, [down]);
  const error = await getError(new OddwireClient({ url, backoff: quick }).health());
  assert.deepEqual([error.code, error.status], ["NOT_OURS", 502]);
  assert.match(error.message, /\/v1\/health \(502, text\/html\)/);
  const passing = await serveScripts(t, [down, { ...down, status: 503, headers: soon }, ok]);
  assert.equal(
    (await new OddwireClient({ url: passing.url, backoff: quick }).health()).status,
    "ok",
  );
});

test("an unreachable service is reported after all attempts", async (t) => {
  const { url } = await serveScripts(t, [ok]);
  const port = Number(new URL(url).port);
  const client = new OddwireClient({ url: `http://127.0.0.2:${port}`, backoff: quick });
  assert.equal((await getError(client.health())).code, "UNREACHABLE");
});

test("a response that breaks off is requested again, and reported after all attempts", async (t) => {
  const headers = { "Content-Length": "1000", Connection: "close" };
  const cut = { ...ok, headers };
  const passing = await serveScripts(t, [cut, { ...refusal(503, "NONE"), headers }, ok]);
  const client = new OddwireClient({ url: passing.url, backoff: quick });
  assert.equal((await client.health()).status, "ok");
  assert.equal(passing.requests.length, 3);

  const lasting = await serveScripts(t, [cut]);
  const error = await getError(
    new OddwireClient({ url: lasting.url, backoff: quick }).prometheusMetrics(),
  );
  assert.deepEqual([error.code, error.status], ["UNREACHABLE", 0]);
  assert.equal(lasting.requests.length, 3);
});

test("keeps a path before /v1, joins lists, and sends nothing for undefined", async (t) => {
  const page = { data: [], pagination: { limit: 1, has_more: false, next_cursor: null }, meta: {} };
  const { url, requests } = await serveScripts(t, [{ status: 200, body: page }]);
  const client = new OddwireClient({ url: `${url}/data/` });
  await client.trades({ token_id: ["1", "2"], limit: 1 }).page();
  assert.deepEqual(requests, ["GET /data/v1/trades?token_id=1%2C2&limit=1"]);
});
