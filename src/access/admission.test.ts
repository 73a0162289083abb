import assert from "node:assert/strict";
import { Socket } from "node:net";
import { test } from "node:test";
import { silentLog } from "../../test/support/silent-log.ts";
import { webLimits } from "../base/config/limits.ts";
import { systemClock as clock } from "../base/time/clock.ts";
import { AccessAudit } from "./access-audit.ts";
import type { AccessStore } from "./access-store.ts";
import { Admission, type Caller } from "./admission.ts";
import type { VerifiedKey } from "./api-key.ts";
import type { IpBlocks } from "./ip-blocks.ts";
import { LocalWindow } from "./local/local-window.ts";

const request = { socket: new Socket(), headers: { "x-api-key": "ow_read_x" } };

/** Opens an admission whose keys cannot be checked, and counts the blocks of IPs. */
function openAdmission() {
  const window = () => new LocalWindow({ windowMs: 60_000, entriesMax: 100 });
  const counted = { blocks: 0 };
  const put = () => {
    counted.blocks += 1;
  };
  const noBlocks = { get: () => null, put } as unknown as IpBlocks;
  const keys = { verify: () => null, isLive: () => false, isVerified: false };
  const admission = new Admission({
    access: {
      keys: keys as unknown as AccessStore["keys"],
      ipBlocks: noBlocks,
      audit: new AccessAudit(silentLog),
      keyWindow: window(),
      ipWindow: window(),
      offenseWindow: window(),
    },
    clock,
    failuresMax: 20,
    trustedProxies: [],
    connectionsPerIp: 10,
    isPublicRead: false,
  });
  return { admission, counted };
}

test("503, without blocking the IP, while a key cannot be checked", async () => {
  const { admission, counted } = openAdmission();
  for (let sent = 0; sent < 1_500; sent += 1) {
    const { refusal, limitStatus } = await admission.admit(request, "read");
    assert.equal(refusal?.code, "SERVICE_UNAVAILABLE");
    assert.equal(limitStatus.remaining, 100);
  }
  assert.equal(counted.blocks, 0);
});

test("503 if the key can no longer be checked when the handler has finished", () => {
  const { admission } = openAdmission();
  const key = { id: "k" } as unknown as VerifiedKey;
  const caller = { key } as unknown as Caller;
  assert.equal(admission.refusalSince(caller)?.code, "SERVICE_UNAVAILABLE");
  assert.equal(admission.refusalSince({ ...caller, key: null }), null);
});

const { upgradesPerMinute, filesPerMinute, ipAbuseMax } = webLimits;

for (const [access, limit] of [
  ["upgrade", upgradesPerMinute],
  ["file", filesPerMinute],
] as const) {
  test(`${access} without a key has a separate limit per IP; far above it the IP is blocked`, async () => {
    const { admission, counted } = openAdmission();
    const keyless = { ...request, headers: {} };
    for (let sent = 0; sent < limit; sent += 1) {
      const { refusal, limitStatus } = await admission.admit(keyless, access);
      assert.equal(refusal, null);
      assert.equal(limitStatus.remaining, 100);
    }
    for (let sent = 0; sent < ipAbuseMax; sent += 1) {
      assert.equal(counted.blocks, 0);
      const { refusal } = await admission.admit(keyless, access);
      assert.equal(refusal?.code, "RATE_LIMITED");
    }
    assert.equal(counted.blocks, 1);
  });
}
