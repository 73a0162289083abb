/** How the client reconnects, tested with a scripted stream. */
import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { type WebSocket, WebSocketServer } from "ws";
import { recommendedBackoff } from "../../clients/typescript/src/backoff.ts";
import { OddwireClient } from "../../clients/typescript/src/client.ts";
import { cleanUp } from "../support/clean-up.ts";
import { waitMsMax } from "../support/wait-for.ts";

const heartbeat = { type: "heartbeat", latest_seq: 7 };

/** Answers every subscription with `frames`, then cuts the connection. */
async function serveFrames(
  t: TestContext,
  frames: readonly object[],
  begins = (): boolean => true,
): Promise<string> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await new Promise((resolve) => server.once("listening", resolve));
  cleanUp(t, () => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  server.on("connection", (socket: WebSocket) => {
    const send = (frame: object): void => socket.send(JSON.stringify(frame));
    send({ type: "welcome", heartbeat_seconds: 15 });
    socket.on("message", (data: Buffer) => {
      const { id } = JSON.parse(data.toString()) as { readonly id: number };
      if (begins()) send({ type: "subscribed", id, subscription_id: "s1", seq: 7 });
      for (const frame of frames) send(frame);
      socket.close(1011);
    });
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const within = { timeout: waitMsMax };

test("a heartbeat resets the wait before the next reconnect", within, async (t) => {
  const url = await serveFrames(t, [heartbeat]);
  // If each wait were twice the one before, the last one would take hours.
  const backoff = { ...recommendedBackoff, firstWaitMs: 2, longestWaitMs: 2 ** 31 - 1 };
  const client = new OddwireClient({ url, backoff });
  const stream = client.stream({ channel: { type: "trades" } });
  let heartbeats = 0;
  for await (const frame of stream) {
    if (frame.type === "heartbeat") heartbeats += 1;
    if (heartbeats === 24) break;
  }
  assert.equal(heartbeats, 24);
});

test("a refusal without a key says that none was given", within, async (t) => {
  const error = { code: "UNAUTHORIZED", message: "Send an auth frame first", request_id: "1" };
  const url = await serveFrames(t, [{ type: "error", error }]);
  const stream = new OddwireClient({ url }).stream({ channel: { type: "trades" } });
  await assert.rejects(async () => {
    for await (const _frame of stream);
  }, /^OddwireError: no API key was given/);
});

test(
  "a position that the service has not indexed ends a stream that never began, after all attempts",
  within,
  async (t) => {
    const message = "resume_from is not indexed yet: the newest position is 7";
    const error = { code: "SERVICE_UNAVAILABLE", message, request_id: "1" };
    const subscriptions: number[] = [];
    const isFirst = (): boolean => subscriptions.push(1) === 1;
    const backoff = { ...recommendedBackoff, firstWaitMs: 2 };
    const follow = async (url: string): Promise<void> => {
      const { signal } = cancelAfter;
      const channel = { type: "trades" } as const;
      const stream = new OddwireClient({ url, backoff }).stream({ channel, resumeFrom: 9, signal });
      for await (const _frame of stream);
    };
    const cancelAfter = new AbortController();
    const never = await serveFrames(t, [{ type: "error", id: 1, error }], () => {
      subscriptions.push(1);
      return false;
    });
    await assert.rejects(follow(never), /^OddwireError: resume_from is not indexed yet: .* 7$/);
    assert.equal(subscriptions.length, 3);

    subscriptions.length = 0;
    const once = await serveFrames(t, [{ type: "error", id: 1, error }], () => {
      if (subscriptions.length === 6) cancelAfter.abort();
      return isFirst();
    });
    await follow(once);
    assert(subscriptions.length > 6, "one that has begun goes on");
  },
);
