import assert from "node:assert/strict";
import { test } from "node:test";
import { ProcessMeter } from "./process-meter.ts";

test("the process is measured, and a blocked event loop is seen", async () => {
  const meter = ProcessMeter.open();
  try {
    // The delay of the loop is known once its timer has fired twice.
    await passMs(60);
    const before = meter.read();
    const untilMs = performance.now() + 200;
    while (performance.now() < untilMs);
    await passMs(60);
    const after = meter.read();
    assert.ok(after.eventLoopLag.maxMs > 100, `${after.eventLoopLag.maxMs} ms`);
    assert.ok(after.eventLoopLag.p50Ms < 100);
    assert.ok(after.cpuUserSeconds + after.cpuSystemSeconds > before.cpuUserSeconds + 0.1);
    assert.ok(after.uptimeSeconds > before.uptimeSeconds);
    assert.ok(after.memory.rss > after.memory.heapUsed && after.memory.heapUsed > 0);
  } finally {
    meter.close();
  }
});
