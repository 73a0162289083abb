import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { pino } from "pino";
import { Admission } from "../../src/access/admission.ts";
import type { Scope } from "../../src/access/key-format.ts";
import { LocalAccess } from "../../src/access/local/local-access.ts";
import { HttpServer } from "../../src/api/http/server.ts";
import type { Observation } from "../../src/api/metrics/request-meter.ts";
import { Cursors } from "../../src/api/route/cursor.ts";
import type { PackableBytes } from "../../src/api/route/gzip.ts";
import type { Route } from "../../src/api/route/route.ts";
import { listIpBlocks, unblockIp } from "../../src/api/routes/admin/ip-block-routes.ts";
import {
  createKey,
  getKey,
  listKeys,
  revokeKey,
  rotateKey,
} from "../../src/api/routes/admin/key-routes.ts";
import { getHealth, getReady } from "../../src/api/routes/service/probe-routes.ts";
import { openStream, StreamServer } from "../../src/api/stream/stream-server.ts";
import { webLimits } from "../../src/base/config/limits.ts";
import { type ErrorCode, errorTable } from "../../src/base/errors.ts";
import type { DescribeId } from "../../src/base/near-name.ts";
import { type Clock, systemClock } from "../../src/base/time/clock.ts";
import type { Checks } from "../../src/feed/intake.ts";
import type { Freshness } from "../../src/rows/freshness.ts";
import type { Hub } from "../../src/stream/hub/hub.ts";
import type { StreamQuotas } from "../../src/stream/session/session.ts";
import { newStreamMeter, type StreamMeter } from "../../src/stream/session/stream-meter.ts";
import { waitMsMax } from "./wait-for.ts";

/** The system clock, which a test can advance. */
export type MovableClock = Clock & { advance(ms: number): void };

type Fields = Readonly<Record<string, unknown>>;

export type TestAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Fields;
  readonly text: string;
};

export type TestServer = {
  readonly url: string;
  readonly http: HttpServer;
  readonly stream: StreamServer | null;
  readonly meter: StreamMeter;
  readonly access: LocalAccess;
  readonly clock: MovableClock;
  readonly dataDir: string;
  /** A key of each scope. */
  readonly keys: Readonly<Record<Scope, string>>;
  /** All log lines of the server. */
  readonly logged: readonly string[];
  request(
    method: string,
    path: string,
    options?: { key?: string; headers?: Record<string, string>; json?: unknown; body?: string },
  ): Promise<TestAnswer>;
  /** Sends bytes unchanged and resolves with all bytes received until the server closes the connection. */
  sendRaw(bytes: string | Buffer): Promise<string>;
  close(): Promise<void>;
};

/** Parts of the server for routes that need them. */
export type RouteParts = {
  readonly access: LocalAccess;
  readonly clock: MovableClock;
};

export const testFreshness = {
  first_block: 1,
  first_timestamp_ms: 1_000,
  indexed_block: 100,
  indexed_seq: 100_000_007,
  head_block: 103,
  finalized_block: 98,
  lag_seconds: 4,
};

/** The default quotas of the service. */
export const testQuotas: StreamQuotas = {
  connectionsPerKey: { read: 10, write: 50, admin: 200 },
  connectionsPerIp: 50,
  subscriptionsMax: 1000,
};

/** Opens the HTTP server on a free port, with a temporary data directory. */
export async function openTestServer(
  options: {
    routes?: readonly Route[];
    /** Makes the routes, instead of `routes` and the routes of keys and the service. */
    makeRoutes?: (parts: RouteParts) => readonly Route[];
    /** The freshness in `meta`. The stream has `testFreshness`. */
    freshness?: () => Freshness;
    corsOrigins?: readonly string[];
    trustedProxies?: readonly string[];
    connectionsPerIp?: number;
    requestsPerIp?: number;
    isPublicRead?: boolean;
    isPublicMetrics?: boolean;
    authFailuresMax?: number;
    readChecks?: () => Checks;
    observe?: (observation: Observation) => void;
    drainTimeoutMs?: number;
    unknownPage?: (target: string) => Promise<PackableBytes>;
    describeId?: DescribeId;
    /** Lets the server serve the stream too. */
    hub?: Hub;
    quotas?: StreamQuotas;
  } = {},
): Promise<TestServer> {
  const dataDir = mkdtempSync(join(tmpdir(), "oddwire-test-"));
  const clock = movableClock();
  const logged: string[] = [];
  const log = pino({ level: "info" }, collectLines(logged));
  const access = LocalAccess.open({ dataDir, pepper: null, clock, log });
  const { keys, ipBlocks, audit } = access;
  const failuresMax = options.authFailuresMax ?? 20;
  const { trustedProxies = [], connectionsPerIp = 10_000, isPublicRead = false } = options;
  const { isPublicMetrics = false } = options;
  const cursors = new Cursors(access.keys.deriveSecret("cursors"), () => -1);
  const services = { keys, audit, clock, cursors, ipBlocks };
  const { requestsPerIp = webLimits.ipRequestsPerMinute } = options;
  const edge = { failuresMax, trustedProxies, connectionsPerIp, requestsPerIp, isPublicRead };
  const admission = new Admission({ access, clock, ...edge, isPublicMetrics });
  const { hub, quotas = testQuotas } = options;
  const meter = newStreamMeter();
  const parts = { keys, admission, quotas, freshness: () => testFreshness, meter, clock, log };
  const stream = hub === undefined ? null : StreamServer.open({ ...parts, hub });
  const http = await HttpServer.open({
    host: "127.0.0.1",
    port: 0,
    routes: options.makeRoutes?.({ access, clock }) ?? [
      getHealth(clock),
      getReady(options.readChecks ?? (() => ({ store: { ok: true, detail: "open" } }))),
      ...[createKey, listKeys, getKey, rotateKey, revokeKey].map((route) => route(services)),
      ...[listIpBlocks, unblockIp].map((route) => route(services)),
      ...(stream === null ? [] : [openStream()]),
      ...(options.routes ?? []),
    ],
    admission,
    ...(stream === null ? {} : { stream }),
    corsOrigins: options.corsOrigins ?? [],
    clock,
    log,
    freshness: options.freshness ?? (() => testFreshness),
    observe: options.observe ?? (() => {}),
    ...(options.describeId === undefined ? {} : { describeId: options.describeId }),
    ...(options.unknownPage === undefined ? {} : { unknownPage: options.unknownPage }),
    ...(options.drainTimeoutMs === undefined ? {} : { drainTimeoutMs: options.drainTimeoutMs }),
  });
  const issue = async (scope: Scope) => {
    const input = { name: `test ${scope}`, scope, expiresAtMs: null, allowedIps: [] };
    return (await keys.create(input)).value;
  };
  return {
    url: http.url,
    http,
    stream,
    meter,
    access,
    clock,
    dataDir,
    keys: { read: await issue("read"), write: await issue("write"), admin: await issue("admin") },
    logged,
    request: (method, path, sent) => request(`${http.url}${path}`, method, sent ?? {}),
    sendRaw: (bytes) => sendRaw(Number(new URL(http.url).port), bytes),
    close: async () => {
      await stream?.close();
      await http.close();
      await access.close();
      rmSync(dataDir, { recursive: true });
    },
  };
}

const expectedHeaders = Object.entries({
  "x-request-id": /^[A-Za-z0-9._-]{1,128}$/,
  "x-ratelimit-limit": /^(100|1000|2000|5000)$/,
  "x-ratelimit-remaining": /^[0-9]{1,4}$/,
  "x-ratelimit-reset": /^([0-9]|[1-5][0-9]|60)$/,
  "ratelimit-policy": /^"default";q=(100|1000|2000|5000);w=60$/,
  ratelimit: /^"default";r=[0-9]{1,4};t=([0-9]|[1-5][0-9]|60)$/,
  "strict-transport-security": /^max-age=[1-9]/,
  vary: /^(?:Origin, )?Accept-Encoding$/,
  "x-frame-options": /^DENY$/,
  "x-content-type-options": /^nosniff$/,
  "referrer-policy": /^no-referrer$/,
  "content-security-policy": /default-src 'none'/,
  "cache-control": /^(no-store|private, max-age=[0-9]+(, immutable)?)$/,
});

/** Asserts the headers of every response, and returns the rate-limit headers. */
export function assertEveryHeader(headers: { get(name: string): string | null | undefined }): {
  limit: number;
  remaining: number;
} {
  for (const [name, pattern] of expectedHeaders) {
    const value = headers.get(name) ?? `(no ${name})`;
    if (!pattern.test(value)) assert.match(value, pattern);
  }
  return {
    limit: Number(headers.get("x-ratelimit-limit")),
    remaining: Number(headers.get("x-ratelimit-remaining")),
  };
}

/** The error in a response. */
export type TestError = { readonly message: string; readonly details?: unknown };

/** Asserts status, shape and headers of an error, and returns it. */
export function assertError(answer: TestAnswer, code: ErrorCode): TestError {
  assertEveryHeader(answer.headers);
  const error = answer.body["error"] as Fields | undefined;
  assert.equal(error?.["code"], code, answer.text);
  assert.equal(answer.status, errorTable[code].status);
  assert.equal(error["request_id"], answer.headers.get("x-request-id"));
  const { message, details } = error;
  assert.ok(typeof message === "string");
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
  const isForLater = /^(IP_BLOCKED|RATE_LIMITED|SERVICE_UNAVAILABLE)$/.test(code);
  assert.equal(Number(answer.headers.get("retry-after") ?? 0) >= 1, isForLater);
  const challenge = answer.headers.get("www-authenticate");
  assert.equal(challenge, code === "UNAUTHORIZED" ? 'Bearer realm="oddwire"' : null);
  assert.deepEqual(Object.keys(answer.body), ["error"]);
  return details === undefined ? { message } : { message, details };
}

/** The `data` of a response with a single resource. */
export function getData(answer: TestAnswer): Record<string, unknown> {
  return answer.body["data"] as Record<string, unknown>;
}

/** The `data` of a response with a list. */
export function toRows(answer: TestAnswer): Record<string, unknown>[] {
  return answer.body["data"] as Record<string, unknown>[];
}

/** Parses the only response in the result of `sendRaw`. */
export function parseRaw(text: string): TestAnswer {
  const split = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = text.slice(0, split).split("\r\n");
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const body = text.slice(split + 4);
  const status = Number(/^HTTP\/1\.1 ([0-9]{3}) /.exec(statusLine)?.[1]);
  return { status, headers, body: parseBody(body), text: body };
}

async function request(
  url: string,
  method: string,
  sent: { key?: string; headers?: Record<string, string>; json?: unknown; body?: string },
): Promise<TestAnswer> {
  const headers = new Headers(sent.headers);
  if (sent.key !== undefined) headers.set("x-api-key", sent.key);
  if (sent.json !== undefined) headers.set("content-type", "application/json");
  const body = sent.json === undefined ? sent.body : JSON.stringify(sent.json);
  const init = { method, headers, redirect: "manual" } as const;
  const response = await fetch(url, { ...init, ...(body === undefined ? {} : { body }) });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  const fields = isJson ? parseBody(text) : {};
  return { status: response.status, headers: response.headers, body: fields, text };
}

function parseBody(text: string): Fields {
  return (text.startsWith("{") ? JSON.parse(text) : {}) as Fields;
}

function sendRaw(port: number, bytes: string | Buffer): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  const socket = connect({ host: "127.0.0.1", port }, () => socket.write(bytes));
  socket.setTimeout(waitMsMax, () =>
    socket.destroy(new Error("the server neither answers nor closes")),
  );
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("error", reject);
  socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
  return promise;
}

/** Makes a system clock that can be advanced. */
export function movableClock(): MovableClock {
  let offsetMs = 0;
  return {
    nowMs: () => systemClock.nowMs() + offsetMs,
    monotonicMs: () => systemClock.monotonicMs() + offsetMs,
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
    advance: (ms) => {
      offsetMs += ms;
    },
  };
}

function collectLines(lines: string[]): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString());
      done();
    },
  });
}
