/** The shortest real path: from an indexed block to the frame at the client. */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { formatTokenId, toFirstSeq } from "../../src/base/ids.ts";
import { isTrade } from "../../src/market/fill.ts";
import { toMinute } from "../../src/market/minute-candle.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { encode } from "../support/store-chain.ts";
import { StreamClient, type StreamFrame } from "../support/stream-client.ts";

const server = await DataServer.open({ finalBlocks: 600, unfinalizedBlocks: 100 });
after(() => server.close());
const { edge } = server;
const connect = (query = "") => StreamClient.open(edge.url, { key: edge.keys.admin, query });

/** Returns the rows of REST after a position, oldest first. */
async function rowsAfter(seq: unknown, path = "/v1/trades?"): Promise<readonly Row[]> {
  return server.getAll(`${path}order=asc&limit=1000&after_seq=${String(seq)}`);
}

/** Asserts that each event is chained to the one before it, and the first to `seq`. */
function assertChained(events: readonly StreamFrame[], seq: unknown): void {
  let before = seq;
  for (const event of events) {
    assert.equal(event["prev_seq"], before);
    assert(Number(event["seq"]) >= Number(before), "no event moves a client back");
    before = event["seq"];
  }
}

suite("a subscription to trades", () => {
  test("sends each trade of new blocks as REST returns it, chained to the event before", async () => {
    const client = await connect();
    const { seq, subscription_id: id, channel } = await client.subscribe({ type: "trades" });
    assert.deepEqual(channel, { type: "trades" });
    await server.advance({ unfinalized: server.newestBlock + 40 });
    const rows = await rowsAfter(seq);
    assert(rows.length > 10);
    await client.until("all trades", () => client.events(id).length >= rows.length);
    assert.deepEqual(
      client.events(id).map(({ data }) => data),
      rows,
    );
    assertChained(client.events(id), seq);
    client.close();
  });

  test("resumes from a position, through the store and the head buffer, and continues live", async () => {
    const client = await connect();
    const subscribed = await client.subscribe({ type: "trades" }, { resume_from: 0 });
    const { subscription_id: id, seq } = subscribed;
    assert.equal(seq, 0);
    const complete = await client.next("replay_complete");
    await server.advance({ unfinalized: server.newestBlock + 20 });
    const rows = await rowsAfter(0);
    await client.until("all trades", () => client.events(id).length >= rows.length);
    assert.deepEqual(
      client.events(id).map(({ data }) => data),
      rows,
    );
    assertChained(client.events(id), seq);
    const replayed = client.events(id).filter(({ replay }) => replay === true);
    assert.equal(replayed.at(-1)?.["seq"], complete["seq"]);
    assert(replayed.length > 100 && replayed.length < rows.length);
    client.close();
  });

  for (const query of ["?batch=1", "?compress=zlib", "?compress=zlib&batch=1"]) {
    test(`is the same with ${query}`, async () => {
      const client = await connect(query);
      const from = { resume_from: (server.finalBlock - 200) * 1_000_000 };
      const { subscription_id: id } = await client.subscribe({ type: "trades" }, from);
      await client.next("replay_complete");
      await server.advance({ unfinalized: server.newestBlock + 10 });
      const rows = await rowsAfter(from.resume_from);
      await client.until("all trades", () => client.events(id).length >= rows.length);
      assert.deepEqual(
        client.events(id).map(({ data }) => data),
        rows,
      );
      assertChained(client.events(id), from.resume_from);
      assert.equal(client.messages.binary > 0, query.includes("zlib"));
      assert.equal(client.messages.arrays > 0, query.includes("batch"));
      client.close();
    });
  }

  test("ends with unsubscribe, by id or by channel", async () => {
    const client = await connect();
    const { subscription_id: id } = await client.subscribe({ type: "trades" });
    client.send({ action: "unsubscribe", subscription_id: id, id: 7 });
    const gone = await client.next("unsubscribed");
    assert.equal(gone["id"], 7);
    await client.subscribe({ type: "trades" });
    client.send({ action: "unsubscribe", channel: { type: "trades" } });
    await client.next("unsubscribed");
    await server.advance({ unfinalized: server.newestBlock + 10 });
    client.send({ action: "ping", id: "p" });
    assert.equal((await client.next("pong"))["id"], "p");
    assert.equal(client.events().length, 0);
    client.close();
  });
});

suite("every channel", () => {
  const ofToken = (row: Row) => ({ token_id: row["token_id"] });
  for (const [type, path, more] of [
    ["token_trades", "/v1/trades?token_id=", ofToken],
    ["resolutions", "/v1/resolutions?", () => ({})],
    ["cancellations", "/v1/cancellations?", () => ({})],
  ] as const) {
    test(`${type} sends the rows that REST lists`, async () => {
      const client = await connect();
      const [trade = {}] = (await server.getPage("/v1/trades?limit=1")).data;
      const requested = more(trade);
      const channel = { type, ...requested };
      const { subscription_id: id } = await client.subscribe(channel, { resume_from: 0 });
      await client.next("replay_complete");
      const token = "token_id" in requested ? `${String(requested.token_id)}&` : "";
      assert.deepEqual(
        client.events(id).map(({ data }) => data),
        await rowsAfter(0, `${path}${token}`),
      );
      client.close();
    });
  }

  test("a candle is sent once more when it closes, and moves no client back", async () => {
    const client = await connect();
    const { newestBlock } = server;
    const unfinalized = newestBlock + 200;
    const trades = server.facts.flatMap(({ fills }) => fills.filter(isTrade));
    const next = trades.find(({ tokenId, seq, timestamp }) => {
      const pair = trades.filter((trade) => trade.tokenId === tokenId && trade.seq < seq);
      const before = pair.at(-1);
      const isNext = seq > toFirstSeq(newestBlock + 1) && seq < toFirstSeq(unfinalized);
      if (!isNext || before === undefined || before.seq > toFirstSeq(newestBlock + 1)) return false;
      return toMinute(before.timestamp) < toMinute(timestamp);
    });
    assert(next !== undefined, "a token is traded again, in another minute");
    const { tokenId } = next;
    const channel = { type: "candles", token_id: formatTokenId(tokenId), resolution: "1m" };
    const { subscription_id: id, seq } = await client.subscribe(channel);
    const candles = () => client.events(id).map(({ data }) => data as Row);
    await server.advance({ unfinalized });
    await client.until("a closed candle", () => candles().some((row) => row["closed"] === true));
    await client.until("the one after", () => candles().length >= 2);
    assertChained(client.events(id), seq);
    client.close();
  });

  test("snapshots of candles and of a price equal REST", async () => {
    const client = await connect();
    const [trade = {}] = (await server.getPage("/v1/trades?limit=1")).data;
    const token = String(trade["token_id"]);
    const channel = { type: "candles", token_id: token, resolution: "1m" };
    await client.subscribe(channel, { snapshot: 500 });
    const snapshot = await client.next("snapshot");
    const candles = (await server.getPage(`/v1/candles/${token}?resolution=1m`)).data;
    assert.deepEqual(snapshot["data"], candles);
    await client.subscribe({ type: "price", token_ids: [token] }, { snapshot: 1 });
    const reported = await client.next("snapshot");
    const { body } = await server.get(`/v1/price/${token}`);
    assert.deepEqual(reported["data"], [body["data"]]);
    client.close();
  });
});

suite("a reorg", () => {
  test("is sent with the ids of the trades it reverts, and the replacing trades follow", async () => {
    const client = await connect();
    const { subscription_id: id } = await client.subscribe({ type: "trades" });
    const safe = server.newestBlock;
    await server.advance({ unfinalized: safe + 100 });
    const gone = await rowsAfter(safe * 1_000_000 + 999_999);
    assert(gone.length > 0);
    const blocks = server.facts.filter(({ number }) => number > safe && number <= safe + 100);
    await server.fork(safe, blocks);
    const reorg = await client.next("reorg");
    assert.equal(reorg["rewind_to_seq"], safe * 1_000_000 + 999_999);
    assert.deepEqual(
      reorg["reverted"],
      gone.map((row) => row["id"]),
    );
    await client.until("them again", () => client.events(id).length === 2 * gone.length);
    const again = client.events(id).slice(gone.length);
    assertChained(again, reorg["rewind_to_seq"]);
    client.close();
  });

  test("that a client missed rewinds the client to where the reorg began", async () => {
    const safe = server.newestBlock;
    await server.advance({ unfinalized: safe + 20 });
    const blocks = server.facts.filter(({ number }) => number > safe && number <= safe + 25);
    await server.fork(safe, blocks);
    const client = await connect();
    const start = { resume_from: (safe + 10) * 1_000_000 };
    const { subscription_id: id } = await client.subscribe({ type: "trades" }, start);
    const reorg = await client.next("reorg");
    await client.next("replay_complete");
    const rows = await rowsAfter(reorg["rewind_to_seq"]);
    assert.deepEqual(
      client.events(id).map(({ data }) => data),
      rows,
    );
    client.close();
  });
});

test("with finality finalized only final trades are sent", async () => {
  const client = await connect();
  const filter = { finality: "finalized" };
  const { subscription_id: id, seq } = await client.subscribe({ type: "trades", filter });
  assert.equal(seq, server.finalBlock * 1_000_000 + 999_999);
  await server.advance({ final: server.finalBlock + 60 });
  const reported = await client.next("finalized");
  assert.equal(reported["finalized_block"], server.finalBlock);
  const rows = await rowsAfter(seq, "/v1/trades?status=finalized&");
  await client.until("all trades", () => client.events(id).length >= rows.length);
  assert.deepEqual(
    client.events(id).map(({ data }) => data),
    rows,
  );
  client.close();
});

test("with finality finalized a snapshot has only final rows, also behind a later position", async () => {
  const client = await connect();
  await server.advance({ unfinalized: server.newestBlock + 100 });
  const start = { filter: { finality: "finalized" }, snapshot: 500 };
  const resume_from = toFirstSeq(server.newestBlock + 1) - 1;
  for (const type of ["markets", "trades", "resolutions", "cancellations"]) {
    await client.subscribe({ type }, { ...start, resume_from });
    const { data } = await client.next("snapshot");
    const blocks = (data as readonly Row[]).map(
      (row) => row["block_number"] ?? row["created_block"],
    );
    assert.deepEqual(
      [type, ...blocks.filter((block) => Number(block) > server.finalBlock)],
      [type],
    );
  }
  client.close();
});

test("finalized is sent also while the service catches up", async () => {
  await server.advance({ final: server.newestBlock });
  const client = await connect();
  await client.subscribe({ type: "trades" });
  const { newestBlock } = server;
  const blocks = server.facts.filter(
    ({ number }) => number > newestBlock && number <= newestBlock + 10,
  );
  await server.report([{ kind: "range", batch: encode(blocks), more: false }]);
  const { finalized_block, finalized_seq } = await client.next("finalized");
  assert.equal(finalized_block, newestBlock + 10);
  assert.equal(finalized_seq, (newestBlock + 11) * 1_000_000 - 1);
  client.close();
});

test("a snapshot is part of the chain of events, and is text whatever the form of the events", async () => {
  const client = await connect("?compress=zlib&batch=1");
  const { subscription_id: id } = await client.subscribe({ type: "trades" }, { snapshot: 5 });
  const { seq } = await client.next("snapshot");
  assert.deepEqual(client.messages, { binary: 0, arrays: 0, texts: 3 });
  const { newestBlock } = server;
  const next = server.facts.find(
    ({ number, fills }) => number > newestBlock && fills.some(isTrade),
  );
  await server.advance({ unfinalized: next?.number ?? 0 });
  await client.until("events", () => client.events(id).length > 0);
  assertChained(client.events(id), seq);
  client.close();
});

test("the subscribed frame has the whole channel, events have the parameters of their token", async () => {
  const client = await connect();
  const [trade = {}] = (await server.getPage("/v1/trades?limit=1&order=asc")).data;
  const requested = { type: "token_trades", token_id: trade["token_id"] };
  const filter = { side: trade["side"] };
  const start = { resume_from: 0, filter };
  const { channel, subscription_id: id } = await client.subscribe(requested, start);
  assert.deepEqual(channel, { ...requested, filter });
  await client.next("replay_complete");
  assert.deepEqual(client.events(id)[0]?.["channel"], requested);
  client.close();
});

test("a key can be sent in the first frame", async () => {
  const client = await StreamClient.open(edge.url);
  assert.equal(client.frames[0]?.["authenticated"], false);
  client.send({ action: "subscribe", channel: { type: "trades" }, id: 1 });
  const refused = await client.next("error");
  assert.equal((refused["error"] as Row)["code"], "UNAUTHORIZED");
  client.send({ action: "auth", api_key: edge.keys.read });
  assert.equal((await client.next("welcome"))["authenticated"], true);
  await client.subscribe({ type: "trades" });
  client.close();
});
