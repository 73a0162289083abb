import assert from "node:assert/strict";
import { test } from "node:test";
import { HeldMerges } from "../../src/storage/lake/held-merges.ts";
import { embeddedOnly } from "../support/open-facts.ts";
import { StoreFolder } from "../support/store-folder.ts";
import { waitFor } from "../support/wait-for.ts";

test("parts are merged every 32 inserts, and as usual once merges are released", {
  skip: embeddedOnly,
}, async (t) => {
  const { engine } = (await StoreFolder.open(t)).store;
  const insert = (block: number) =>
    engine.command(`INSERT INTO reorgs VALUES (${block}, ${block})`);
  const countParts = async () => {
    const [[parts] = []] = await engine.query(
      "SELECT count() FROM system.parts WHERE active AND table = 'reorgs'",
    );
    return Number(parts);
  };
  const held = await HeldMerges.hold(engine);
  for (let block = 1; block <= 31; block += 1) {
    await insert(block);
    await held.count();
  }
  assert.equal(await countParts(), 31);
  await insert(32);
  await held.count();
  assert.equal(await countParts(), 1);
  for (let block = 33; block <= 48; block += 1) await insert(block);
  assert.equal(await countParts(), 17);
  await held.release();
  await waitFor("the merges", async () => ((await countParts()) < 17 ? true : null));
  const [sum] = await engine.query("SELECT count(), sum(to_block) FROM reorgs");
  assert.deepEqual(sum, [48, (48 * 49) / 2]);
});
