import assert from "node:assert/strict";
import { test } from "node:test";
import { deleteRows } from "../../src/storage/engine/delete-rows.ts";
import { readCount } from "../../src/storage/engine/engine.ts";
import { StoreFolder } from "../support/store-folder.ts";

test("rows are deleted even while the engine merges their parts", async (t) => {
  const { engine } = (await StoreFolder.open(t)).store;
  for (let round = 0; round < 4; round += 1) {
    for (let part = 0; part < 5; part += 1) {
      await engine.command(
        `INSERT INTO quarantine SELECT number * 5 + ${part}, 0, '', '' FROM numbers(50000)`,
      );
    }
    const merging = engine.command("OPTIMIZE TABLE quarantine FINAL").catch(() => {});
    await deleteRows(engine, "quarantine", "seq >= 0");
    await merging;
    assert.equal(await readCount(engine, "quarantine"), 0);
  }
});
