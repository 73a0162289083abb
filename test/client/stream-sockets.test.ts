/** How streams share connections, tested with a scripted stream. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { type WebSocket, WebSocketServer } from "ws";
import { recommendedBackoff } from "../../clients/typescript/src/backoff.ts";
import { OddwireClient } from "../../clients/typescript/src/client.ts";
import type { StreamFrame } from "../../clients/typescript/src/stream-frames.ts";
import { streamLimits } from "../../src/base/config/limits.ts";
import { cleanUp } from "../support/clean-up.ts";
import { waitFor, waitMsMax } from "../support/wait-for.ts";

type ClientFrame = {
  readonly action: string;
  readonly id?: number;
  readonly channel?: { readonly type: string; readonly token_id?: string };
  readonly subscription_id?: string;
};

const within = { timeout: waitMsMax };

/** A stream that confirms every subscription, with an event, and keeps what it received. */
class ScriptedStream {
  readonly #server: WebSocketServer;
  /** The frames of each connection, in order, with the times they came. */
  readonly connections: { readonly frame: ClientFrame; readonly atMs: number }[][] = [];
  /** Token ids whose subscriptions are refused. */
  readonly refused = new Map<string, string>();

  constructor(t: TestContext) {
    this.#server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
    cleanUp(t, () => {
      for (const socket of this.#server.clients) socket.terminate();
      this.#server.close();
    });
    this.#server.on("connection", (socket) => this.#answer(socket));
  }

  async open(streamIdleMs?: number): Promise<OddwireClient> {
    await once(this.#server, "listening");
    const url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    const backoff = { ...recommendedBackoff, firstWaitMs: 2 };
    return new OddwireClient({ url, key: "a key", backoff, streamIdleMs });
  }

  get openCount(): number {
    return this.#server.clients.size;
  }

  /** The actions that each connection received. */
  get actions(): readonly (readonly string[])[] {
    return this.connections.map((frames) => frames.map(({ frame }) => frame.action));
  }

  #answer(socket: WebSocket): void {
    const frames: { frame: ClientFrame; atMs: number }[] = [];
    this.connections.push(frames);
    const send = (frame: object): void => socket.send(JSON.stringify(frame));
    send({ type: "welcome", heartbeat_seconds: 15 });
    socket.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as ClientFrame;
      frames.push({ frame, atMs: performance.now() });
      const { action, id, channel = { type: "" } } = frame;
      const token = channel.token_id ?? channel.type;
      if (action === "unsubscribe")
        send({ type: "unsubscribed", id, subscription_id: frame.subscription_id });
      if (action !== "subscribe") return;
      const code = this.refused.get(token);
      if (code !== undefined) {
        this.refused.delete(token);
        if (code === "4008") return socket.close(4008);
        return send({ type: "error", id, error: { code, message: "no" } });
      }
      send({ type: "subscribed", id, subscription_id: token, seq: 7 });
      send({ type: "event", subscription_id: token, seq: 8, prev_seq: 7, data: token });
      send({ type: "heartbeat", latest_seq: 8 });
    });
  }
}

const toChannel = (token: string) =>
  ({ type: "candles", token_id: token, resolution: "1m" }) as const;

/** Reads the first event of a stream, and then as many heartbeats. */
async function readFrom(client: OddwireClient, token: string, signal?: AbortSignal) {
  const read: StreamFrame<unknown>[] = [];
  for await (const frame of client.stream({ channel: toChannel(token), signal })) {
    read.push(frame);
    if (signal === undefined) break;
  }
  return read;
}

test("streams of a client share a connection, and each gets its own events", within, async (t) => {
  const service = new ScriptedStream(t);
  const client = await service.open();
  const left = new AbortController();
  const first = readFrom(client, "1", left.signal);
  const second = readFrom(client, "2", left.signal);
  await waitFor("both subscriptions", async () => service.connections[0]?.[2] ?? null);
  const [third] = await readFrom(client, "3");
  assert.equal((third as { data: unknown } | undefined)?.data, "3");
  left.abort();
  await Promise.all([first, second]);
  const [actions, ...others] = service.actions;
  assert.deepEqual(actions?.slice(0, 4), ["auth", "subscribe", "subscribe", "subscribe"]);
  assert.deepEqual(others, []);
  for (const [token, frames] of [
    ["1", await first],
    ["2", await second],
  ] as const) {
    const events = frames.filter(({ type }) => type === "event");
    assert.deepEqual(
      events.map((frame) => (frame as { data?: unknown }).data),
      [token],
    );
  }
  await waitFor("the connection closes with its last stream", async () =>
    service.openCount === 0 ? true : null,
  );
});

test("an idle connection stays open for the configured time", within, async (t) => {
  const service = new ScriptedStream(t);
  const client = await service.open(500);
  await readFrom(client, "1");
  await readFrom(client, "2");
  assert.deepEqual(service.actions, [["auth", "subscribe", "unsubscribe", "subscribe"]]);
  await waitFor("the close", async () => (service.openCount === 0 ? true : null));
  await readFrom(client, "3");
  assert.equal(service.connections.length, 2);
});

test("a second stream of the same channel opens another connection", within, async (t) => {
  const service = new ScriptedStream(t);
  const client = await service.open();
  const left = new AbortController();
  const first = readFrom(client, "1", left.signal);
  await readFrom(client, "1");
  assert.deepEqual(service.actions, [
    ["auth", "subscribe"],
    ["auth", "subscribe"],
  ]);
  left.abort();
  await first;
});

test("a refused stream reconnects alone; others keep the shared connection", within, async (t) => {
  const service = new ScriptedStream(t);
  for (const token of ["2", "3"])
    service.refused.set(token, token === "2" ? "CONFLICT" : "SERVICE_UNAVAILABLE");
  const client = await service.open();
  const left = new AbortController();
  const first = readFrom(client, "1", left.signal);
  for (const token of ["2", "3"]) await readFrom(client, token);
  const subscribes = service.actions.map(
    (actions) => actions.filter((action) => action === "subscribe").length,
  );
  assert.deepEqual(subscribes, [3, 1, 1]);
  left.abort();
  await first;
  service.refused.set("4", "VALIDATION_ERROR");
  await assert.rejects(readFrom(client, "4"), { code: "VALIDATION_ERROR" });
});

test(
  "streams continue on separate connections when the shared one is closed for excess frames",
  within,
  async (t) => {
    const service = new ScriptedStream(t);
    const client = await service.open();
    const left = new AbortController();
    const first = readFrom(client, "1", left.signal);
    service.refused.set("2", "4008");
    await readFrom(client, "2");
    await waitFor("the first stream again", async () => service.connections[2] ?? null);
    left.abort();
    await first;
    assert.equal(service.connections.length, 3);
  },
);

test("frames are sent below the rate limit of the service", within, async (t) => {
  const service = new ScriptedStream(t);
  const client = await service.open();
  const left = new AbortController();
  const kept = readFrom(client, "0", left.signal);
  for (let round = 1; round <= 12; round += 1) await readFrom(client, String(round));
  left.abort();
  await kept;
  const [frames = [], ...others] = service.connections;
  assert.deepEqual(others, []);
  assert(frames.length >= 25, `${frames.length} frames`);
  const { framesPerSecond } = streamLimits;
  for (const [at, { atMs }] of frames.entries()) {
    const later = frames[at + framesPerSecond];
    if (later !== undefined)
      assert(later.atMs - atMs > 500, `frame ${at} to ${at + framesPerSecond}`);
  }
});
