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

test("traders sell only what they have, also after a restart", async () => {
  const chain = { send: async () => {}, mine: async () => {} } as unknown as DemoChain;
  const opensAt = 1_790_000_000;
  let simulation = await Simulation.open(chain, 7, { seconds: opensAt, pastEndsAt: 0 });
  for (let step = 1; step <= 600; step += 1) {
    await simulation.step({ seconds: opensAt + step, pastEndsAt: 0 }, 3);
    simulation.openBooks(opensAt + step);
    if (step % 200 !== 0) continue;
    const saved = JSON.parse(JSON.stringify(simulation.state)) as typeof simulation.state;
    simulation = Simulation.resume(chain, saved);
    const units = saved.holdings.flatMap(([, book]) => book.flatMap(([, held]) => held));
    assert(units.length > 100 && units.every((held) => held >= 0));
    assert(new Set(units).size > 50);
  }
});
