/** What readiness says of endpoints that cannot be asked: that one waits because it asked for a pause, and until when. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tooManyRequests } from "../support/faults.ts";
import { findFreePort } from "../support/free-port.ts";
import { readRecording } from "../support/recorded/recording.ts";
import { serveRecording } from "../support/recorded/serve-recording.ts";
import type { Service } from "../support/service.ts";
import { waitFor } from "../support/wait-for.ts";

const recording = readRecording("contracts-a");

async function readChainCheck(service: Service) {
  const { status, body } = await service.request("/v1/ready");
  const { checks } = body as { checks: Record<string, { ok: boolean; detail: string }> };
  return { status, ...(checks["chain"] ?? assert.fail()) };
}

test("readiness names a pause required by the only endpoint, and fails once data are stale", async (t) => {
  const stage = await serveRecording(t, recording);
  const absent = `http://127.0.0.1:${await findFreePort()}`;
  const settings = { ODDWIRE_RPC_MINORITY: "follow", ODDWIRE_RATE_LIMIT_IP: "100000" };
  const service = await stage.startService([stage.node.url, absent], settings);
  const [host, other] = [new URL(stage.node.url).host, new URL(absent).host];
  await waitFor("the chain", async () => ((await readChainCheck(service)).ok ? true : null));
  const end = stage.node.fault(() => tooManyRequests(120));
  const pausedAtMs = Date.now();
  const paused = await waitFor("the pause", async () => {
    const check = await readChainCheck(service);
    return check.detail.includes("is asked again at") ? check : null;
  });
  assert.ok(paused.ok, "what is known is still fresh");
  const stale = await waitFor("stale data", async () => {
    const check = await readChainCheck(service);
    return check.ok ? null : check;
  });
  assert.equal(stale.status, 503);
  const said = new RegExp(
    `^no RPC endpoint can be asked now: ${host} limits its requests and is asked again at (\\S+Z); ${other} does not answer$`,
  ).exec(stale.detail);
  const untilMs = Date.parse(said?.[1] ?? assert.fail(stale.detail));
  assert.ok(untilMs > pausedAtMs + 100_000 && untilMs < Date.now() + 121_000, stale.detail);
  end();
});

test("readiness names an endpoint that returned wrong data, with the reason", async (t) => {
  const stage = await serveRecording(t, recording);
  const [block] = recording.blocks;
  assert.ok(block !== undefined);
  stage.node.fault(({ method }) => {
    if (method !== "eth_getBlockByNumber") return null;
    const json = JSON.stringify({ ...block.header, number: "0x1", timestamp: "0xf8500000" });
    return { kind: "result", json };
  });
  const service = await stage.startService([stage.node.url], { ODDWIRE_RATE_LIMIT_IP: "100000" });
  const check = await waitFor("wrong data", async () => {
    const read = await readChainCheck(service);
    return read.detail.includes("returned wrong data") ? read : null;
  });
  assert.match(
    check.detail,
    /returned wrong data \(block 1 is \d+ s ahead of the clock of this machine\)/,
  );
});
