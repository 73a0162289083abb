import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { storeLimits } from "../../src/base/config/limits.ts";
import { ChdbEngine } from "../../src/storage/embedded/chdb-engine.ts";

/** Takes the engine half a second. */
const slow = "SELECT sleep(0.5)";

async function withEngine(use: (engine: ChdbEngine) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  const engine = await ChdbEngine.open(join(folder, "facts"));
  try {
    await use(engine);
  } finally {
    await engine.close();
    await rm(folder, { recursive: true });
  }
}

test("who reads does not wait for what is written", async () => {
  await withEngine(async (engine) => {
    let isWritten = false;
    const write = async (): Promise<void> => {
      await engine.command(slow);
      isWritten = true;
    };
    const writing = write();
    assert.deepEqual(await engine.query("SELECT 1"), [[1]]);
    assert.equal(isWritten, false);
    await writing;
  });
});

test("what was written is read at the same time, anyone who reads", async () => {
  await withEngine(async (engine) => {
    await engine.command("CREATE TABLE numbers (number UInt64) ENGINE = MergeTree ORDER BY number");
    for (let rows = 1; rows <= 10; rows += 1) {
      await engine.command(`INSERT INTO numbers VALUES (${rows})`);
      const counting = Array.from({ length: storeLimits.readersMax + 1 }, async () =>
        engine.query("SELECT count() FROM numbers"),
      );
      assert.deepEqual(
        (await Promise.all(counting)).flat(2),
        counting.map(() => rows),
      );
    }
  });
});

test("over the bound of queries in line more are refused, and those in it answered", async () => {
  await withEngine(async (engine) => {
    const { readersMax, queriesWaitingMax } = storeLimits;
    const asked = Array.from({ length: readersMax + queriesWaitingMax }, async (_, index) =>
      engine.query(index < readersMax ? slow : `SELECT ${index}`),
    );
    await assert.rejects(engine.query("SELECT 1"), { code: "SERVICE_UNAVAILABLE" });
    const answers = await Promise.all(asked);
    assert.deepEqual(answers.at(-1), [[asked.length - 1]]);
  });
});

test("closing waits for queries in line", async () => {
  let answer: unknown;
  await withEngine(async (engine) => {
    for (let index = 0; index < storeLimits.readersMax; index += 1) void engine.query(slow);
    const ask = async (): Promise<void> => {
      answer = await engine.query("SELECT 7");
    };
    void ask();
  });
  assert.deepEqual(answer, [[7]]);
});
