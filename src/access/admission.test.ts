import assert from "node:assert/strict";
import { Socket } from "node:net";
import { test } from "node:test";
import { systemClock as clock } from "../base/time/clock.ts";
import type { AccessStore } from "./access-store.ts";
import { Admission } from "./admission.ts";
import type { IpBlocks } from "./ip-blocks.ts";
import { IpGuard } from "./ip-guard.ts";
import { LocalWindow } from "./local/sliding-window.ts";

test("a client whose key cannot be checked gets 503, however often it asks, and is not blocked", async () => {
  const window = () => new LocalWindow({ windowMs: 60_000, entriesMax: 100 });
  let blocks = 0;
  const put = () => {
    blocks += 1;
  };
  const noBlocks = { get: () => null, put } as unknown as IpBlocks;
  const keys = { verify: () => null, isLive: () => false, isVerified: false };
  const admission = new Admission({
    access: {
      keys: keys as unknown as AccessStore["keys"],
      keyWindow: window(),
      ipWindow: window(),
    },
    guard: new IpGuard({ blocks: noBlocks, offenses: window(), clock, failuresMax: 20 }),
    clock,
    trustedProxies: [],
    connectionsPerIp: 10,
    isPublicRead: false,
  });
  const request = { socket: new Socket(), headers: { "x-api-key": "ow_read_x" } };
  for (let sent = 0; sent < 1_500; sent += 1) {
    const { refusal, limitStatus } = await admission.admit(request, "read");
    assert.equal(refusal?.code, "SERVICE_UNAVAILABLE");
    assert.equal(limitStatus.remaining, 100);
  }
  assert.equal(blocks, 0);
});
