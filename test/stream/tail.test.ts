/** `oddwire tail` on the stream of a real server: trades as they happen, reorgs, a refused key, filters. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Trade } from "../../clients/typescript/src/api.ts";
import { OddwireClient } from "../../clients/typescript/src/client.ts";
import { printTrades, questionReader } from "../../src/cli/client/print-trades.ts";
import { isTrade } from "../../src/market/fill.ts";
import { idFields } from "../../src/rows/trade-row.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { DataServer } from "../support/open-data-server.ts";
import { waitFor } from "../support/wait-for.ts";

const server = await DataServer.open();
after(() => server.close());

function idsBehind(block: number): string[] {
  return server.fills
    .filter((fill) => isTrade(fill) && fill.seq > (block + 1) * 1_000_000 - 1)
    .map((fill) => idFields(fill).id);
}

/** Prints the newest trades, calls `act` and stops. Returns all lines. */
async function follow(
  asJson: boolean,
  act: (lines: readonly string[]) => Promise<void>,
): Promise<readonly string[]> {
  const lines: string[] = [];
  const abort = new AbortController();
  const { url, keys } = server.edge;
  const write = (line: string) => lines.push(line);
  const printing = printTrades({ url, key: keys.read, json: asJson }, write, abort.signal);
  await waitFor("the newest trades", async () => (lines.length >= 10 ? true : null));
  try {
    await act(lines);
  } finally {
    abort.abort();
  }
  await printing;
  return lines;
}

// The first test: after a reorg, a position that was served before it is resumed with a reorg frame.
test("resumes after its connection was cut, without loss or repetition", async (t) => {
  const proxy = await CuttingProxy.open(t, server.edge.url);
  const { newestBlock } = server;
  const traded = server.facts.filter(
    ({ number, fills }) => number > newestBlock && fills.some(isTrade),
  );
  const [first = 0, , second = 0] = traded.map(({ number }) => number);
  const lines: string[] = [];
  const abort = new AbortController();
  const printing = printTrades(
    { url: proxy.url, key: server.edge.keys.read, json: true },
    (line) => lines.push(line),
    abort.signal,
  );
  await waitFor("the newest trades", async () => (lines.length >= 10 ? true : null));
  // The frames that are on their way are lost.
  proxy.cutAnswers(1);
  await server.advance({ unfinalized: first });
  await waitFor("a lost frame", async () => (proxy.cuts === 1 ? true : null));
  const lost = idsBehind(newestBlock);
  await waitFor("the lost trades", async () => (lines.length >= 10 + lost.length ? true : null));
  // The service cannot be reached for a while.
  proxy.refuse();
  await server.advance({ unfinalized: second });
  proxy.resume();
  const missed = idsBehind(newestBlock);
  await waitFor("all trades", async () => (lines.length >= 10 + missed.length ? true : null));
  abort.abort();
  await printing;
  const ids = lines.map((line) => (JSON.parse(line) as Trade).id);
  assert(missed.length > lost.length && lost.length > 0);
  assert.deepEqual(ids.slice(10), missed);
});

test("prints the newest trades, then new trades, then a reorg and the trades that replace the reverted ones", async () => {
  const { newestBlock } = server;
  const traded = server.facts.filter(
    ({ number, fills }) => number > newestBlock && fills.some(isTrade),
  );
  const target = traded[3]?.number ?? newestBlock;
  const lines = await follow(true, async (printed) => {
    await server.advance({ unfinalized: target });
    const change = idsBehind(newestBlock);
    assert(change.length > 0);
    await waitFor("changes", async () => (printed.length === 10 + change.length ? true : null));
    const again = server.facts.filter(({ number }) => number > newestBlock && number <= target);
    await server.fork(newestBlock, again);
    await waitFor("what came instead", async () =>
      printed.length === 11 + 2 * change.length ? true : null,
    );
  });
  const change = idsBehind(newestBlock);
  const rows = lines.map(
    (line) => JSON.parse(line) as { id?: string; type?: string; reverted?: string[] },
  );
  assert.deepEqual(
    rows.slice(10, 10 + change.length).map(({ id }) => id),
    change,
  );
  const fork = rows[10 + change.length];
  assert.equal(fork?.type, "reorg");
  assert.deepEqual(fork.reverted, change);
  assert.deepEqual(
    rows.slice(11 + change.length).map(({ id }) => id),
    change,
  );
});

test("prints readable lines, and says how many trades a reorg reverted", async () => {
  const { newestBlock } = server;
  const lines = await follow(false, async (printed) => {
    await server.fork(newestBlock - 20, []);
    await waitFor("the fork", async () => (printed.length > 10 ? true : null));
  });
  assert.match(lines[0] ?? "", /^\d{4}-\d\d-\d\dT\S+ (BUY|SELL) +[0-9.]+ at [0-9.]+/);
  assert.match(lines.at(-1) ?? "", /^a reorg reverted everything after \d+ \(\d+ trades\)/);
});

test("fails immediately when the key is refused", async () => {
  const { url } = server.edge;
  const { signal } = new AbortController();
  const printing = printTrades({ url, key: "ow_read_x", json: true }, () => {}, signal);
  await assert.rejects(printing, /the service refused/);
});

test("filters trades, and starts at a time in the past", async () => {
  const { url, keys } = server.edge;
  const all = await server.getAll("/v1/trades?order=asc&limit=1000");
  const since = all[all.length >> 1] as unknown as Trade;
  const isRequested = (row: Trade) =>
    row.side === since.side && row.condition_id === since.condition_id;
  const expected = (all as unknown as Trade[])
    .filter((row) => row.timestamp >= since.timestamp && isRequested(row))
    .map(({ id }) => id);
  assert(expected.length > 0 && expected.length < all.length);
  const lines: string[] = [];
  const abort = new AbortController();
  const { side, token_id: market, timestamp } = since;
  const printing = printTrades(
    { url, key: keys.read, json: true, since: timestamp, side, market },
    (line) => lines.push(line),
    abort.signal,
  );
  await waitFor("trades since then", async () => (lines.length >= expected.length ? true : null));
  abort.abort();
  await printing;
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as Trade).id),
    expected,
  );
});

test("a readable line names the market by its question", async () => {
  const { data } = await server.getPage("/v1/markets?limit=100");
  const questions = data.flatMap(({ question }) =>
    typeof question === "string" ? [question] : [],
  );
  const lines = await follow(false, async () => {});
  const named = lines.filter((line) => questions.some((text) => line.endsWith(` ${text}`)));
  assert.equal(named.length, lines.length, lines.join("\n"));
});

test("a question that could not be read is read again after a minute, and not before", async (t) => {
  const proxy = await CuttingProxy.open(t, server.edge.url);
  const { data } = await server.getPage("/v1/markets?limit=1");
  const { id, question } = data[0] as { id: string; question: string };
  const backoff = { attempts: 1, firstWaitMs: 1, longestWaitMs: 1 };
  const client = new OddwireClient({ url: proxy.url, key: server.edge.keys.read, backoff });
  let nowMs = 0;
  const getQuestion = questionReader(client, { monotonicMs: () => nowMs });
  proxy.refuse();
  assert.equal(await getQuestion(id), null);
  proxy.resume();
  nowMs = 59_999;
  assert.equal(await getQuestion(id), null);
  nowMs = 60_000;
  assert.equal(await getQuestion(id), question);
  proxy.refuse();
  nowMs = 600_000;
  assert.equal(await getQuestion(id), question);
});
