import assert from "node:assert/strict";
import { test } from "node:test";
import type { DemoChain } from "../../demo/demo-chain.ts";
import { Simulation } from "../../demo/simulation.ts";

test("a resumed simulation lists all questions again, because the service can request all of them", async () => {
  const sent: unknown[] = [];
  const chain = {
    send: async (transaction: unknown) => void sent.push(transaction),
    mine: async () => {},
  } as unknown as DemoChain;
  const first = await Simulation.open(chain, 7, { seconds: 1_790_000_000, pastEndsAt: 0 });
  const listed = first.takeListings();
  assert(listed.length > 10 && sent.length > listed.length);
  assert.deepEqual(first.takeListings(), []);
  const saved: unknown = JSON.parse(JSON.stringify(first.state));
  const resumed = Simulation.resume(chain, saved as typeof first.state);
  assert.deepEqual(resumed.takeListings(), listed);
});
