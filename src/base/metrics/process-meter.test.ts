import assert from "node:assert/strict";
import { test } from "node:test";
import { waitFor } from "../../../test/support/wait-for.ts";
import { ProcessMeter } from "./process-meter.ts";

test("the process is measured, and a blocked event loop is seen", async () => {
  const meter = ProcessMeter.open();
  try {
    const before = meter.read();
    const after = await waitFor("the lag to be seen", async () => {
      const untilMs = performance.now() + 200;
      while (performance.now() < untilMs);
      const status = meter.read();
      return status.eventLoopLag.maxMs > 100 ? status : null;
    });
    assert.ok(after.eventLoopLag.maxMs >= after.eventLoopLag.p99Ms);
    assert.ok(after.cpuUserSeconds + after.cpuSystemSeconds > before.cpuUserSeconds + 0.1);
    assert.ok(after.uptimeSeconds > before.uptimeSeconds);
    assert.ok(after.memory.rss > after.memory.heapUsed && after.memory.heapUsed > 0);
  } finally {
    meter.close();
  }
});
