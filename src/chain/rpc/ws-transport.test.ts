import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { WebSocketServer } from "ws";
import { cleanUp } from "../../../test/support/clean-up.ts";
import { EndpointError } from "../chain-errors.ts";
import { WsTransport } from "./ws-transport.ts";

const head = { number: "0x1", hash: `0x${"11".repeat(32)}` };
const announcement = { jsonrpc: "2.0", method: "eth_subscription", params: { result: head } };

function replyTo(id: number) {
  return { jsonrpc: "2.0", id, result: `reply to ${id}` };
}

test("R6: a late reply to an aborted request is not matched to the next request", async (t) => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  server.on("connection", (socket) => {
    const send = (message: object) => socket.send(JSON.stringify(message));
    socket.on("message", (data) => {
      const { id } = JSON.parse((data as Buffer).toString()) as { id: number };
      // The announcement shows that the socket is alive, so an abort does not close it.
      if (id === 1) send(announcement);
      if (id === 2) for (const late of [[replyTo(1)], replyTo(1), replyTo(2)]) send(late);
    });
  });
  const observed = Promise.withResolvers<void>();
  const { port } = server.address() as AddressInfo;
  const url = new URL(`ws://127.0.0.1:${port}`);
  const transport = WsTransport.open(
    url,
    () => observed.resolve(),
    () => {},
  );
  cleanUp(t, () => {
    transport.close();
    server.close();
  });
  const ask = (firstId: number, signal: AbortSignal) =>
    transport.exchange({ body: JSON.stringify({ id: firstId }), firstId }, signal);
  const abort = new AbortController();
  const first = ask(1, abort.signal);
  await observed.promise;
  const reason = new EndpointError("timeout", "no answer in time");
  abort.abort(reason);
  await assert.rejects(first, reason);
  const { value } = await ask(2, new AbortController().signal);
  assert.deepEqual(value, replyTo(2));
});

test("R6: a closed socket is reported only if it had answered before", async (t) => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  let isAnswering = false;
  server.on("connection", (socket) => {
    socket.on("message", (data) => {
      const { id } = JSON.parse((data as Buffer).toString()) as { id: number };
      if (isAnswering) socket.send(JSON.stringify(replyTo(id)));
      if (id > 0) socket.close(1001);
    });
  });
  const { port } = server.address() as AddressInfo;
  const reasons: string[] = [];
  const isLost = Promise.withResolvers<void>();
  const lose = (reason: string) => {
    reasons.push(reason);
    isLost.resolve();
  };
  const transport = WsTransport.open(new URL(`ws://127.0.0.1:${port}`), () => {}, lose);
  cleanUp(t, () => {
    transport.close();
    server.close();
  });
  const ask = (firstId: number) =>
    transport.exchange(
      { body: JSON.stringify({ id: firstId }), firstId },
      new AbortController().signal,
    );
  const closed = { message: "the socket was closed with code 1001" };
  await assert.rejects(ask(1), closed);
  isAnswering = true;
  await ask(2);
  await isLost.promise;
  await ask(3);
  transport.replace();
  assert.deepEqual(reasons, [closed.message]);
});
