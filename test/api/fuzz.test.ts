/**
 * Whatever is sent, the response is well-formed: never a 5xx, a hang, a missing header or an exit.
 * `TEST_SEED` changes the requests, `TEST_RUNS_FACTOR` their number. The default is a sample.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ApiContract } from "../support/api-contract.ts";
import {
  breakBytes,
  type FuzzedRequest,
  type KeysOfScope,
  RequestFuzzer,
  toBytes,
  upgradeRequest,
} from "../support/fuzz-requests.ts";
import type { Samples } from "../support/fuzz-values.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertEveryHeader } from "../support/open-test-server.ts";
import { propertySettings } from "../support/property-settings.ts";
import { type RawAnswer, RawConnection, sendBroken } from "../support/raw-connection.ts";
import { sampleLakeFile } from "../support/sample-lake.ts";
import { SeededRandom } from "../support/seeded-random.ts";

// Few unfinalized blocks, because every read of the head buffer scans all of its rows.
const server = await DataServer.open({
  finalBlocks: 1100,
  unfinalizedBlocks: 10,
  trustedProxies: ["127.0.0.1"],
});
after(() => server.close());

const { edge } = server;
const port = Number(new URL(edge.url).port);
const contract = await ApiContract.read(server);
/** Few enough in flight that the store is never overloaded, which would be a legitimate 503. */
const [connectionCount, inFlight] = [4, 8];

async function makeKeys(): Promise<KeysOfScope> {
  const make = (scope: "read" | "admin", count: number) =>
    Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const name = `fuzz ${scope} ${index}`;
        const input = { name, scope, expiresAtMs: null, allowedIps: [] };
        return (await edge.access.keys.create(input)).value;
      }),
    );
  return { read: await make("read", 120), admin: await make("admin", 20) };
}

async function makeSamples(): Promise<Samples> {
  const trades = (await server.getPage("/v1/trades?limit=200")).data;
  const markets = (await server.getPage("/v1/markets?limit=30")).data;
  const texts = (rows: readonly Row[], ...fields: string[]) => [
    ...new Set(rows.flatMap((row) => fields.map((field) => String(row[field])))),
  ];
  const cursors = await Promise.all(
    ["trades", "fills", "markets"].map((list) => server.getPage(`/v1/${list}?limit=1`)),
  );
  const times = texts(trades, "timestamp", "timestamp_ms");
  const wallets = texts(trades, "maker", "taker");
  const hashes = texts(trades, "tx_hash");
  const orders = texts(trades, "maker_order_hash");
  const victim = { name: "victim", scope: "read", expiresAtMs: null, allowedIps: [] } as const;
  const { key } = await edge.access.keys.create(victim);
  const tokens = texts(trades, "token_id");
  const amounts = texts(trades, "size", "value_usd");
  const prices = [...texts(trades, "price").filter((price) => price !== "null"), "1.02"];
  return {
    id: [key.id, ...texts(markets, "id"), ...tokens],
    ip: ["198.18.0.1", "2001:db8::1", "2001:db8::/64"],
    token_id: tokens,
    token_ids: tokens,
    condition_id: texts(markets, "id"),
    order_hash: orders,
    tx_hash: hashes,
    builder: hashes,
    min_price: prices,
    max_price: prices,
    maker: wallets,
    taker: wallets,
    wallet: wallets,
    address: wallets,
    neg_risk_market_id: texts(markets, "neg_risk_market_id").filter((id) => id.startsWith("0x")),
    user: wallets,
    cursor: cursors.map(({ pagination }) => String(pagination.next_cursor)),
    search: ["will", "win", "cup", "FaZe"],
    ...Object.fromEntries(timeNames.map((name) => [name, times])),
    ...Object.fromEntries(amountNames.map((name) => [name, amounts])),
    after_seq: texts(trades, "seq"),
    at: texts(trades, "seq"),
    min_seq: texts(trades, "seq"),
    from_block: texts(trades, "block_number"),
    to_block: texts(trades, "block_number"),
    allowed_ips: ["192.0.2.0/24", "2001:db8::1"],
    name: ["my script"],
    ...Object.fromEntries(Object.entries(sampleLakeFile).map(([name, value]) => [name, [value]])),
  };
}

const amountNames = ["min_size", "max_size", "min_value", "min_volume", "min_volume_24h"];
const timeNames = [
  "start",
  "end",
  "created_after",
  "created_before",
  "end_after",
  "end_before",
  "expires_at",
];

function assertOurs(request: FuzzedRequest, answer: RawAnswer): void {
  const { endpoint, isMeant, isRight, method } = request;
  assertAnswer(answer);
  const { status } = answer;
  // An empty id leaves a slash too many.
  const isReported = !isMeant || status === 308 || status in endpoint.responses;
  assert(isReported, `${method} ${endpoint.path} says nothing of ${status}`);
  const sentId = request.headers.find(([name]) => name === "x-request-id")?.[1];
  if (sentId === "mine-1") assert.equal(answer.headers.get("x-request-id"), sentId);
  if (method === "HEAD") return;
  if (status === 200 && answer.headers.get("content-type")?.startsWith("application/json"))
    JSON.parse(answer.body);
  if (status < 400) return;
  const { code, message } = readError(answer);
  if (!isRight) return;
  const isAllowed = allowedForRight.test(code === "VALIDATION_ERROR" ? message : code);
  assert(isAllowed, `what is right is refused: ${message}`);
}

/** Errors that a valid request can get: unknown ids, limits, rules between parameters, a stream without an upgrade. */
const allowedForRight =
  /^(NOT_FOUND|INVALID_CURSOR|CONFLICT|RATE_LIMITED)$|must be after (start|created_after|end_after)$|must not be below (from_block|min_size|min_price)$|with sort=value|needs include(_pnl)?=|must be in the future$|must be at most 100 with include_pnl$|^category names no category: |^outcome_index is of no outcome |^(category|builder|exchange_version) cannot be combined with (category|builder|exchange_version)$|must be websocket to open the stream$/;

function assertAnswer({ status, headers }: RawAnswer): void {
  // The stream begins with 101. All other 1xx responses were removed before.
  // A position that is not indexed yet is waited for, and then refused with a time to try again.
  const isAhead = status === 503 && headers.has("retry-after");
  assert(status === 101 || (status >= 200 && status < 500) || isAhead, `status ${status}`);
  assertEveryHeader(headers);
}

function readError({ body, headers }: RawAnswer): { code: string; message: string } {
  const { error } = JSON.parse(body) as { error: Readonly<Record<string, unknown>> };
  const { code, message, request_id: requestId } = error;
  assert(typeof code === "string" && typeof message === "string");
  assert.equal(requestId, headers.get("x-request-id"));
  return { code, message };
}

/** Sends `count` requests over one connection, at most `inFlight` at a time. */
async function runConnection(
  fuzzer: RequestFuzzer,
  { count, statuses }: { count: number; statuses: Map<number, number> },
): Promise<void> {
  const connection = new RawConnection(port);
  let left = count;
  const runLane = async () => {
    while (left > 0) {
      left -= 1;
      const request = fuzzer.next();
      const head = toBytes({ ...request, body: null });
      try {
        const answer = await connection.send(head, request.body, request.method === "HEAD");
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        assertOurs(request, answer);
      } catch (cause) {
        throw new Error(`${(cause as Error).message}\n${JSON.stringify(toBytes(request))}`, {
          cause,
        });
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: inFlight }, runLane));
  } finally {
    connection.close();
  }
}

const keys = await makeKeys();
const samples = await makeSamples();
const { seed, numRuns } = propertySettings(30_000);

function getFuzzer(random: SeededRandom): RequestFuzzer {
  return new RequestFuzzer({ random, endpoints: contract.endpoints, samples, keys });
}

async function assertWell(): Promise<void> {
  edge.clock.advance(60_000);
  const { status } = await edge.request("GET", "/v1/health");
  assert.equal(status, 200);
  const failures = edge.logged.filter((line) => !/"audit":|is not indexed yet/.test(line));
  assert.deepEqual(failures, [], "nothing failed");
}

test("the API document describes the response to every request", async (t) => {
  t.diagnostic(`seed ${seed}`);
  const statuses = new Map<number, number>();
  const started = performance.now();
  await Promise.all(
    Array.from({ length: connectionCount }, (_, index) =>
      runConnection(getFuzzer(new SeededRandom(seed + index)), {
        count: numRuns / connectionCount,
        statuses,
      }),
    ),
  );
  const seconds = (performance.now() - started) / 1000;
  t.diagnostic(`${numRuns} requests in ${seconds.toFixed(1)} s: ${JSON.stringify([...statuses])}`);
  assert((statuses.get(200) ?? 0) > numRuns / 10, "many requests get through");
  assert((statuses.get(429) ?? 0) < numRuns / 10, "few are over a limit");
  await assertWell();
});

/** Sends malformed requests, `inFlight` at a time, and returns all responses. */
async function sendAll(count: number, makeBytes: () => Buffer): Promise<readonly RawAnswer[]> {
  const random = new SeededRandom(seed);
  const answers: RawAnswer[] = [];
  const sendOne = async (index: number) => {
    // Each from a different address, so that few exceed the limit of an IP.
    const localAddress = `127.1.${index & 255}.${random.integer(1, 254)}`;
    const bytes = makeBytes();
    try {
      const received = await sendBroken({ port, localAddress, bytes });
      for (const answer of received) assertAnswer(answer);
      answers.push(...received);
    } catch (cause) {
      throw new Error(`${(cause as Error).message}\n${bytes.toString("base64")}`, { cause });
    }
  };
  for (let sent = 0; sent < count; sent += inFlight)
    await Promise.all(Array.from({ length: inFlight }, (_, lane) => sendOne(sent + lane)));
  return answers;
}

test("whatever bytes are sent, the responses are well-formed and the connection ends", async (t) => {
  t.diagnostic(`seed ${seed}`);
  const random = new SeededRandom(seed);
  const fuzzer = getFuzzer(random);
  const count = Math.ceil(numRuns / 10);
  const answers = await sendAll(count, () => breakBytes(fuzzer.next(), random));
  t.diagnostic(`${count} broken requests, ${answers.length} answers`);
  assert(answers.length > count / 2, "most are answered");
  await assertWell();
});

test("every request for the stream opens it or gets the reason why not, with every header", async (t) => {
  t.diagnostic(`seed ${seed}`);
  const random = new SeededRandom(seed);
  const count = Math.ceil(numRuns / 20);
  const answers = await sendAll(count, () => {
    const request = upgradeRequest(random, keys.read);
    return random.chance(0.7)
      ? Buffer.from(toBytes(request), "latin1")
      : breakBytes(request, random);
  });
  const opened = answers.filter(({ status }) => status === 101).length;
  t.diagnostic(`${count} upgrades, ${answers.length} answers, ${opened} opened`);
  assert(answers.length > count / 2, "most are answered");
  assert(opened > count / 20, "some are opened");
  await assertWell();
});
