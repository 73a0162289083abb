/** The protocol, frame by frame, without sockets. */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { streamLimits } from "../../src/base/config/limits.ts";
import { AppError } from "../../src/base/errors.ts";
import { toSeq } from "../../src/base/ids.ts";
import { isTrade } from "../../src/market/fill.ts";
import { DataServer } from "../support/open-data-server.ts";
import { SessionClient, sharedParts } from "../support/session-client.ts";
import { waitFor } from "../support/wait-for.ts";

const server = await DataServer.open({ finalBlocks: 600, unfinalizedBlocks: 100 });
const parts = sharedParts(server.hub);
const { clock } = parts;
after(async () => {
  parts.flusher.close();
  await server.close();
});

function getError(client: SessionClient): { code: string; message: string } {
  const [last] = client.of("error").slice(-1);
  assert(last !== undefined, "there is an error");
  return last["error"] as { code: string; message: string };
}

test("a public stream works without a key, and accepts one", () => {
  const client = new SessionClient(parts, { key: null, isPublic: true });
  client.send({ action: "subscribe", channel: { type: "trades" } });
  assert.equal(client.of("subscribed").length, 1);
  client.send({ action: "auth", api_key: "good" });
  assert.equal(client.of("welcome").at(-1)?.["authenticated"], true);
  client.session.closed();
});

test("clients that resume from different positions at the same time all get their events", async () => {
  // More than the queries that may wait for the store.
  const clients = Array.from({ length: 400 }, () => new SessionClient(parts));
  const from = toSeq(server.finalBlock - 5, 500_000);
  for (const [index, client] of clients.entries()) {
    const resumed = { resume_from: from + index };
    client.send({ action: "subscribe", channel: { type: "trades" }, ...resumed });
  }
  await waitFor("all replays", async () =>
    clients.every((client) => client.closed ?? client.of("replay_complete").length) ? true : null,
  );
  const sent = server.fills.filter((fill) => isTrade(fill) && fill.seq > from).length;
  for (const client of clients) {
    assert.equal(client.closed, null);
    assert.equal(client.of("event").length, sent);
    client.session.closed();
  }
});

test("a subscription above the limit is refused with what to do, until another ends", () => {
  const client = new SessionClient(parts);
  const subscribe = (tokenId: number) => {
    clock.advance(100);
    client.send({ action: "subscribe", channel: { type: "token_trades", token_id: `${tokenId}` } });
  };
  const { subscriptionsMax } = parts.quotas;
  for (let tokenId = 0; tokenId <= subscriptionsMax; tokenId += 1) subscribe(tokenId);
  assert.equal(client.of("subscribed").length, subscriptionsMax);
  assert.match(getError(client).message, /has 1000 subscriptions.*; end one, or open another/);
  const ended = client.of("subscribed")[0]?.["subscription_id"];
  client.send({ action: "unsubscribe", subscription_id: ended });
  subscribe(subscriptionsMax);
  assert.equal(client.of("subscribed").length, subscriptionsMax + 1);
  client.session.closed();
});

test("subscriptions to more tokens than a connection can have are refused with what to do", () => {
  const client = new SessionClient(parts);
  const { tokensPerChannelMax: each, tokensPerConnectionMax: most } = streamLimits;
  const subscribe = (type: string, first: number, count: number) => {
    clock.advance(100);
    const token_ids = Array.from({ length: count }, (_, index) => `${first + index}`);
    client.send({ action: "subscribe", channel: { type, token_ids } });
  };
  const full = most / each;
  for (let at = 0; at < full; at += 1)
    subscribe(at % 2 ? "price" : "token_trades", at * each, each);
  subscribe("price", most, 1);
  assert.equal(client.of("subscribed").length, full);
  const message =
    "connection would follow 10001 tokens, and the most is 10000; end a subscription, or open another connection";
  assert.equal(getError(client).message, message);
  client.send({ action: "subscribe", channel: { type: "trades" } });
  assert.equal(client.of("subscribed").length, full + 1, "a channel without tokens");
  const ended = client.of("subscribed")[0]?.["subscription_id"];
  client.send({ action: "unsubscribe", subscription_id: ended });
  subscribe("price", most, each);
  assert.equal(client.of("subscribed").length, full + 2);
  client.session.closed();
});

test("replays take turns: in each iteration of the event loop only one of them sends a slice", async () => {
  const clients = Array.from({ length: 4 }, () => new SessionClient(parts));
  const getSent = () => clients.map((client) => client.of("event").length);
  for (const client of clients) {
    client.send({ action: "subscribe", channel: { type: "trades" }, resume_from: 0 });
  }
  let before = getSent();
  while (clients.some((client) => client.of("replay_complete").length === 0)) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    const now = getSent();
    const grown = now.map((sent, at) => sent - (before[at] ?? 0)).filter((sent) => sent > 0);
    assert(grown.length <= 1 && (grown[0] ?? 0) <= 130, `${grown.join()} events in one turn`);
    before = now;
  }
  const [one = 0, ...others] = before;
  assert(one > 500 && others.every((sent) => sent === one), String(before));
  for (const client of clients) client.session.closed();
});

test("4003 when the store is unavailable during a replay", async () => {
  const { engine } = server.store;
  const fail = async () => Promise.reject(new AppError("SERVICE_UNAVAILABLE"));
  const broken = { query: fail, queryBinary: fail };
  Object.assign(engine, broken);
  const client = new SessionClient(parts);
  client.send({ action: "subscribe", channel: { type: "trades" }, resume_from: 0 });
  const closed = await waitFor("the failure", async () => client.closed);
  for (const name of Object.keys(broken)) Reflect.deleteProperty(engine, name);
  assert.deepEqual(closed, { code: 4003, reason: "the database is unavailable; reconnect" });
});

test("after a failed read of a channel that others follow, the next client starts a new read", async () => {
  const { engine } = server.store;
  const fail = async () => Promise.reject(new Error("the store is down"));
  const broken = { query: fail, queryBinary: fail };
  Object.assign(engine, broken);
  const resume = { action: "subscribe", channel: { type: "trades" }, resume_from: 0 };
  const follower = new SessionClient(parts);
  follower.send({ action: "subscribe", channel: { type: "trades" } });
  const refused = new SessionClient(parts);
  refused.send(resume);
  const { code } = await waitFor("the failure", async () => refused.closed);
  assert.equal(code, 1011);
  for (const name of Object.keys(broken)) Reflect.deleteProperty(engine, name);
  const client = new SessionClient(parts);
  client.send(resume);
  await waitFor("the end of the replay", async () => {
    assert.equal(client.closed, null);
    return client.of("replay_complete").at(-1) ?? null;
  });
  for (const { session } of [follower, client]) session.closed();
});

suite("an invalid frame is answered with an error that names the fault", () => {
  for (const [name, frame, issue] of [
    ["no JSON", "{", /frame must be JSON/],
    ["no object", "[1]", /frame must be a JSON object/],
    ["no action", {}, /action must be one of auth, subscribe/],
    ["a mistyped action", { action: "subscrbe" }, /did you mean subscribe/],
    [
      "a deep id",
      `{"action":"ping","id":${"[".repeat(30_000)}${"]".repeat(30_000)}}`,
      /id must be/,
    ],
    ["an unknown field", { action: "ping", extra: 1 }, /extra is not known here/],
    ["no channel", { action: "subscribe" }, /channel is required/],
    ["a mistyped type", { action: "subscribe", channel: { type: "trade" } }, /did you mean trades/],
    [
      "a malformed token",
      { action: "subscribe", channel: { type: "token_trades", token_id: "0x1" } },
      /channel.token_id must be a decimal token id/,
    ],
    [
      "a filter the channel does not take",
      { action: "subscribe", channel: { type: "resolutions", filter: { side: "BUY" } } },
      /filter.side is not accepted/,
    ],
    [
      "a field the channel does not take",
      { action: "subscribe", channel: { type: "trades", include_mirror: true } },
      /channel.include_mirror is not accepted by channels of type trades/,
    ],
    [
      "a field of another type",
      { action: "subscribe", channel: { type: "price", token_id: "1", include_mirror: "true" } },
      /channel.include_mirror must be/,
    ],
    [
      "a start given twice",
      { action: "subscribe", channel: { type: "trades", snapshot: 1 }, snapshot: 1 },
      /snapshot is given more than once/,
    ],
    [
      "a snapshot too large",
      { action: "subscribe", channel: { type: "trades" }, snapshot: 501 },
      /snapshot must be a whole number from 0 to 500/,
    ],
    [
      "a filter given twice",
      {
        action: "unsubscribe",
        channel: { type: "trades", filter: { side: "BUY" } },
        filter: { side: "SELL" },
      },
      /filter is given more than once/,
    ],
    [
      "a name given twice, at any depth",
      '{"action":"subscribe","channel":{"type":"trades","type":"prices"}}',
      /type is given more than once/,
    ],
    ["nothing to unsubscribe", { action: "unsubscribe", subscription_id: "s0" }, /no such/],
  ] as const) {
    test(name, () => {
      const client = new SessionClient(parts);
      client.send(frame);
      assert.match(getError(client).message, issue);
      assert.equal(client.closed, null);
      client.session.closed();
    });
  }

  test("a frame that is not text", () => {
    const client = new SessionClient(parts);
    client.session.receive(null);
    assert.match(getError(client).message, /frame must be text/);
    client.session.closed();
  });

  test("the same channel twice on a connection", () => {
    const client = new SessionClient(parts);
    client.send({ action: "subscribe", channel: { type: "trades" } });
    client.send({ action: "subscribe", channel: { type: "trades" } });
    assert.equal(getError(client).code, "CONFLICT");
    client.session.closed();
  });
});

suite("resuming from a position that is not indexed", () => {
  const next = server.newestBlock + 1;
  const resume = (from: number, headBlock: number | null): SessionClient => {
    const freshness = () => ({ ...parts.freshness(), head_block: headBlock });
    const client = new SessionClient({ ...parts, freshness });
    client.send({ action: "subscribe", channel: { type: "trades" }, resume_from: from });
    return client;
  };

  test("is refused after a wait if the chain can have the position but it is not indexed in time", async () => {
    const clients = [null, next, next + 1000].map((head) => resume(next * 1_000_000, head));
    for (const client of clients) {
      await waitFor("the refusal", async () => (client.of("error").length > 0 ? true : null));
      const error = getError(client);
      assert.equal(error.code, "SERVICE_UNAVAILABLE");
      assert.match(error.message, new RegExp(`last position is ${next * 1_000_000 - 1}$`));
      client.session.closed();
    }
  });

  test("is refused permanently if the position is ahead of the chain", () => {
    const client = resume((next + 100_000) * 1_000_000, next);
    const error = getError(client);
    assert.equal(error.code, "VALIDATION_ERROR");
    assert.match(error.message, /^resume_from is ahead of the chain/);
    client.session.closed();
  });

  test("is accepted at the last position", () => {
    const client = resume(next * 1_000_000 - 1, next);
    assert.equal(client.of("subscribed").length, 1);
    client.session.closed();
  });

  test("waits for a block that comes soon", async () => {
    const client = resume(next * 1_000_000, next);
    assert.equal(client.of("subscribed").length, 0);
    await server.advance({ unfinalized: next });
    await waitFor("the subscription", async () =>
      client.of("subscribed").length > 0 ? true : null,
    );
    assert.equal(client.of("subscribed")[0]?.["seq"], next * 1_000_000);
    client.session.closed();
  });
});

suite("a client that breaks the policy is closed with 4008", () => {
  test("after more than 20 frames in a second", () => {
    const client = new SessionClient(parts);
    for (let sent = 0; sent < 20; sent += 1) client.send({ action: "ping" });
    assert.equal(client.closeCode, null);
    client.send({ action: "ping" });
    assert.equal(client.closeCode, 4008);
    assert.equal(client.of("pong").length, 20);
  });

  test("but not for 20 frames in each second of which the network delays some by up to 0.2 s", () => {
    const client = new SessionClient(parts);
    for (const sinceLastMs of [200, 800, 1_000, 1_200, 800]) {
      clock.advance(sinceLastMs);
      for (let sent = 0; sent < 20; sent += 1) client.send({ action: "ping" });
    }
    assert.equal(client.closeCode, null);
    assert.equal(client.of("pong").length, 100);
  });

  test("but not for frames that waited while the process was busy, before or after its tick", () => {
    for (const isTickFirst of [true, false]) {
      const client = new SessionClient(parts);
      client.session.tick();
      clock.advance(6_000);
      if (isTickFirst) client.session.tick();
      // Four frames per second.
      for (let sent = 0; sent < 24; sent += 1) client.send({ action: "ping" });
      assert.equal(client.closeCode, null);
      for (let ticks = 0; ticks < 2; ticks += 1) {
        clock.advance(1_000);
        client.session.tick();
      }
      for (let sent = 0; sent < 21; sent += 1) client.send({ action: "ping" });
      assert.equal(client.closeCode, 4008);
    }
  });

  test("after 5 invalid frames in 10 seconds", () => {
    const client = new SessionClient(parts);
    for (let sent = 0; sent < 4; sent += 1) client.send("nonsense");
    clock.advance(10_001);
    for (let sent = 0; sent < 4; sent += 1) client.send("nonsense");
    assert.equal(client.closeCode, null);
    client.send("nonsense");
    assert.equal(client.closeCode, 4008);
    assert.equal(client.of("error").length, 9);
  });
});

suite("time", () => {
  test("4001 when the client sends no key within 10 seconds", () => {
    const client = new SessionClient(parts, { key: null });
    clock.advance(9_000);
    client.session.tick();
    assert.equal(client.closeCode, null);
    clock.advance(1_001);
    client.session.tick();
    assert.equal(client.closeCode, 4001);
  });

  test("4002 when two pings are not answered", () => {
    const client = new SessionClient(parts);
    for (let pings = 0; pings < 2; pings += 1) {
      clock.advance(25_001);
      client.session.tick();
    }
    assert.equal(client.pings, 2);
    client.session.ponged();
    for (let pings = 0; pings < 3; pings += 1) {
      clock.advance(25_001);
      client.session.tick();
    }
    assert.equal(client.closed?.code, 4002);
  });

  test("PING is answered with PONG, and heartbeats report how far the service has indexed", () => {
    const client = new SessionClient(parts);
    client.send("PING");
    assert.equal(client.last.type, "PONG");
    client.session.heartbeat();
    const { type, latest_seq, indexed_block, head_block, lag_seconds } = client.last;
    assert.deepEqual(
      { type, latest_seq, indexed_block, head_block, lag_seconds },
      {
        type: "heartbeat",
        latest_seq: 100_000_007,
        indexed_block: 100,
        head_block: 103,
        lag_seconds: 4,
      },
    );
    client.session.closed();
  });
});

suite("a client that does not read", () => {
  test("is closed with 4002 when its waiting frames are too old, with the position to resume from", async () => {
    const client = new SessionClient(parts);
    client.send({ action: "subscribe", channel: { type: "trades" } });
    await server.advance({ unfinalized: server.newestBlock + 20 });
    const reported = client.of("event").length;
    client.takes = false;
    await server.advance({ unfinalized: server.newestBlock + 60 });
    const stalled = client.of("event").length;
    assert(stalled > reported, "what the socket took is on its way");
    clock.advance(30_001);
    client.session.tick();
    assert.equal(client.closed?.code, 4002);
    const [, seq] = /last delivered seq ([0-9]+)/.exec(client.closed.reason) ?? [];
    assert.equal(Number(seq), client.of("event").at(-1)?.["seq"]);
  });

  test("pauses its replay, without a prefetch, until it reads again", async () => {
    const client = new SessionClient(parts);
    client.takes = false;
    client.send({ action: "subscribe", channel: { type: "trades" }, resume_from: 0 });
    assert.equal(client.of("subscribed").length, 1);
    for (let turn = 0; turn < 50; turn += 1) {
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    }
    assert.equal(client.of("event").length, 0, "nothing was prefetched");
    client.drain();
    await waitFor("the end of the replay", async () =>
      client.of("replay_complete").length === 1 ? true : null,
    );
    assert(client.of("event").length > 100);
    client.session.closed();
  });

  test("does not affect other clients, however many do not read", async () => {
    const healthy = Array.from({ length: 200 }, () => new SessionClient(parts));
    const stalled = Array.from({ length: 200 }, () => new SessionClient(parts));
    for (const client of [...healthy, ...stalled]) {
      client.send({ action: "subscribe", channel: { type: "trades" } });
    }
    for (const client of stalled) client.takes = false;
    const seq = server.newestBlock * 1_000_000 + 999_999;
    await server.advance({ unfinalized: server.newestBlock + 60 });
    const rows = await server.getAll(`/v1/trades?order=asc&limit=1000&after_seq=${seq}`);
    assert(rows.length > 0);
    for (const client of healthy) {
      assert.deepEqual(
        client.of("event").map(({ data }) => data),
        rows,
      );
    }
    clock.advance(30_001);
    for (const client of [...healthy, ...stalled]) client.session.tick();
    assert(stalled.every(({ closed }) => closed?.code === 4002));
    assert(healthy.every(({ closed }) => closed === null));
    for (const { session } of healthy) session.closed();
    assert.equal(server.hub.topicCount, 0);
  });
});
