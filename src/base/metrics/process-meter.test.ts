import assert from "node:assert/strict";
import { test } from "node:test";
import { waitFor } from "../../../test/support/wait-for.ts";
import { ProcessMeter } from "./process-meter.ts";

test("reports CPU time, memory and the lag of a blocked event loop", async () => {
  const meter = ProcessMeter.open();
  try {
    const before = meter.read();
    const after = await waitFor("the lag to be seen", async () => {
      const untilMs = performance.now() + 200;
      while (performance.now() < untilMs);
      const status = meter.read();
      return status.event_loop_lag.max_ms > 100 ? status : null;
    });
    const { memory, event_loop_lag: lag } = after;
    assert.ok(lag.max_ms >= lag.p99_ms);
    assert.ok(after.cpu_user_seconds + after.cpu_system_seconds > before.cpu_user_seconds + 0.1);
    assert.ok(memory.resident_memory_bytes > memory.heap_used_bytes && memory.heap_used_bytes > 0);
  } finally {
    meter.close();
  }
});
