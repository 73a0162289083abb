import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hash } from "../base/ids.ts";
import type { Endpoint } from "./rpc/endpoint.ts";
import { VoteMemory } from "./vote-memory.ts";

const block = { number: 7, hash: `0x${"07".repeat(32)}` as Hash };

function endpoint(isReachable: boolean): Endpoint {
  return { isReachable, refusal: null } as Endpoint;
}

test("the votes of unreachable endpoints are kept, and expire", () => {
  let nowMs = 0;
  const memory = new VoteMemory({ monotonicMs: () => nowMs }, 1_000);
  const [gone, there] = [endpoint(false), endpoint(true)];
  memory.note(gone, block);
  memory.note(there, block);
  assert.deepEqual(memory.absent(), [{ endpoint: gone, block, isExpired: false }]);
  nowMs = 1_001;
  assert.deepEqual(memory.absent(), [{ endpoint: gone, block, isExpired: true }]);
  memory.forget(gone);
  assert.deepEqual(memory.absent(), []);
});
