/** The contract of `IpBlocks`, of one process and of a cluster. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { AccessStore } from "../../src/access/access-store.ts";
import type { IpBlock } from "../../src/access/ip-blocks.ts";
import { IpGuard } from "../../src/access/ip-guard.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { waitFor } from "../support/wait-for.ts";
import { storePlaces } from "./open-stores.ts";

const bucket = "203.0.113.7";
const firstPage = { limit: 100, after: null };

function blockFor(ms: number, ip = bucket): IpBlock {
  const blockedAtMs = Date.now();
  const blockedUntilMs = blockedAtMs + ms;
  return { bucket: ip, reason: "abuse", offences: 2, blockedAtMs, blockedUntilMs };
}

async function waitForBlock({ ipBlocks }: AccessStore, isBlocked: boolean): Promise<void> {
  await waitFor(`a block: ${isBlocked}`, async () =>
    (await ipBlocks.list(firstPage)).some((block) => block.bucket === bucket) === isBlocked
      ? true
      : null,
  );
}

for (const [place, makePlace] of Object.entries(storePlaces)) {
  suite(`IP blocks of ${place}`, { timeout: 300_000 }, () => {
    test("a block survives, and one that is removed is removed everywhere", async (t) => {
      const open = await makePlace(t);
      const first = await open();
      const block = blockFor(60_000);
      first.ipBlocks.put(block);
      assert.deepEqual(first.ipBlocks.get(bucket), block);
      await first.close();
      const [second, third] = [await open(), await open()];
      assert.deepEqual(second.ipBlocks.get(bucket), block);
      assert.equal(await third.ipBlocks.remove(bucket), true);
      assert.equal(await third.ipBlocks.remove(bucket), false);
      await waitForBlock(second, false);
      await waitFor("the end", async () => (second.ipBlocks.get(bucket) === null ? true : null));
    });

    test("the list has those in force, newest first, in pages", async (t) => {
      const { ipBlocks } = await (await makePlace(t))();
      for (const [index, ip] of ["192.0.2.1", "192.0.2.2", "192.0.2.3"].entries())
        ipBlocks.put({ ...blockFor(60_000, ip), blockedAtMs: index });
      ipBlocks.put(blockFor(-1));
      const page = await ipBlocks.list({ limit: 2, after: null });
      assert.deepEqual(
        page.map(({ bucket: ip }) => ip),
        ["192.0.2.3", "192.0.2.2"],
      );
      const rest = await ipBlocks.list({ limit: 2, after: page[1] ?? null });
      assert.deepEqual(
        rest.map(({ bucket: ip }) => ip),
        ["192.0.2.1"],
      );
    });
  });
}

test("offences at different nodes of a cluster count together, and block at all", async (t) => {
  const open = await storePlaces["cluster"]?.(t);
  assert(open !== undefined);
  const nodes = [await open(), await open()];
  const guards = nodes.map(
    ({ ipBlocks: blocks, offenceWindow: offences }) =>
      new IpGuard({ blocks, offences, clock: systemClock, failuresMax: 20 }),
  );
  for (let failures = 0; failures < 20; failures += 1)
    guards[failures % 2]?.record(bucket, "failed_authentication");
  for (const node of nodes) await waitForBlock(node, true);
  for (const guard of guards) assert(guard.blockedForMs(bucket) > 0);
});
