/** The contract of every adapter of `Engine`, embedded or server. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { storeLimits } from "../../src/base/config/limits.ts";
import { RowWriter } from "../../src/storage/codec/row-writer.ts";
import type { Engine } from "../../src/storage/engine/engine.ts";
import { engineOpeners } from "../support/open-engines.ts";

/** A query that takes the engine half a second. */
const slow = "SELECT sleep(0.5)";
/** More queries at the same time than any adapter has connections for. */
const connectionsMax = 16;

function toRows(numbers: readonly number[]): Buffer {
  const writer = new RowWriter();
  for (const number of numbers) writer.uint32(number);
  return writer.finish();
}

async function makeTable(engine: Engine, name: string, settings = ""): Promise<void> {
  await engine.command(`CREATE TABLE ${name} (n UInt32) ENGINE = MergeTree ORDER BY n ${settings}`);
}

async function numbersIn(engine: Engine, table: string): Promise<unknown[]> {
  return (await engine.query(`SELECT n FROM ${table} ORDER BY n`)).flat();
}

for (const [name, open] of Object.entries(engineOpeners)) {
  suite(`the ${name} engine`, () => {
    test("returns rows with the documented value of each type", async (t) => {
      const engine = await open(t);
      const sql =
        "SELECT 18014398509481984, toDecimal64('1.50', 2), NULL, [1, 2], 'a\\n\\'b\\'', toFixedString('ab', 2)";
      assert.deepEqual(await engine.query(`${sql} UNION ALL ${sql}`), [
        [2 ** 54, "1.5", null, [1, 2], "a\n'b'", "ab"],
        [2 ** 54, "1.5", null, [1, 2], "a\n'b'", "ab"],
      ]);
      assert.deepEqual(await engine.query("SELECT 1 WHERE 0"), []);
    });

    test("returns rows in binary formats, unchanged", async (t) => {
      const engine = await open(t);
      const [plain, named] = ["RowBinary", "RowBinaryWithNames"] as const;
      const sql = "SELECT toUInt16(258) AS n";
      const header = "\x01\x01n";
      for (const [format, where, bytes] of [
        [plain, "1", "\x02\x01"],
        [plain, "0", ""],
        [named, "1", `${header}\x02\x01`],
        [named, "0", header],
      ] as const) {
        const read = await engine.queryBinary(`${sql} WHERE ${where}`, format);
        assert.deepEqual(read, Buffer.from(bytes, "latin1"));
      }
    });

    test("inserts rows from memory, and from a file that several tables can read", async (t) => {
      const engine = await open(t);
      await makeTable(engine, "a");
      await makeTable(engine, "b");
      await engine.insert("a", toRows([1, 2]));
      await engine.insert("a", Buffer.alloc(0));
      const file = await engine.openRows();
      await engine.insert("a", file);
      for (const number of [3, 4]) await file.append(toRows([number]));
      await Promise.all(["a", "b"].map((table) => engine.insert(table, file)));
      await file.close();
      assert.deepEqual(await numbersIn(engine, "a"), [1, 2, 3, 4]);
      assert.deepEqual(await numbersIn(engine, "b"), [3, 4]);
    });

    test("inserts all rows as one block, however many", async (t) => {
      const engine = await open(t);
      await makeTable(engine, "a");
      const rows = 2_500_000;
      await engine.insert("a", Buffer.alloc(rows * 4));
      assert.deepEqual(await engine.query("SELECT count(), uniq(_part), max(_part) FROM a"), [
        [rows, 1, "all_1_1_0"],
      ]);
    });

    test("inserts nothing if the rows end early", async (t) => {
      const engine = await open(t);
      await makeTable(engine, "a");
      await assert.rejects(engine.insert("a", toRows([1, 2]).subarray(0, -1)));
      assert.deepEqual(await numbersIn(engine, "a"), []);
    });

    test("inserts rows under the same token only once", async (t) => {
      const engine = await open(t);
      await makeTable(engine, "a", "SETTINGS non_replicated_deduplication_window = 100");
      await engine.insert("a", toRows([1]), "a:1-2");
      await engine.insert("a", toRows([2]), "a:1-2");
      await engine.insert("a", toRows([3]), "a:3-4");
      const file = await engine.openRows();
      await file.append(toRows([4]));
      await engine.insert("a", file, "a:3-4");
      await file.close();
      await Promise.all([5, 6, 7].map((n) => engine.insert("a", toRows([n]), "claim:5")));
      const [first, second, ...others] = await numbersIn(engine, "a");
      assert.deepEqual([first, second, others.length], [1, 3, 1]);
    });

    test("inserts the same rows again without a token", async (t) => {
      const engine = await open(t);
      await makeTable(engine, "a", "SETTINGS non_replicated_deduplication_window = 100");
      await makeTable(engine, "b", "SETTINGS non_replicated_deduplication_window = 100");
      for (let times = 0; times < 2; times += 1) {
        await engine.insert("a", toRows([1]));
        await engine.command("INSERT INTO b VALUES (1)");
        await engine.command("INSERT INTO b SELECT 1");
      }
      assert.deepEqual(await numbersIn(engine, "a"), [1, 1]);
      assert.deepEqual(await numbersIn(engine, "b"), [1, 1, 1, 1]);
    });

    test("goes on after a statement that fails", async (t) => {
      const engine = await open(t);
      for (const sql of ["SELEC 1", "SELECT 1 FROM nowhere"]) {
        await assert.rejects(engine.query(sql));
        await assert.rejects(engine.queryBinary(sql, "RowBinary"));
        await assert.rejects(engine.command(sql));
      }
      await assert.rejects(engine.insert("nowhere", toRows([1])));
      assert.deepEqual(await engine.query("SELECT 1"), [[1]]);
    });

    test("a result that fails midway is not returned in part", async (t) => {
      const engine = await open(t);
      const sql =
        "SELECT throwIf(number = 2000000) FROM numbers(3000000) SETTINGS max_block_size = 1000";
      await assert.rejects(engine.query(sql));
      await assert.rejects(engine.queryBinary(sql, "RowBinary"));
      await assert.rejects(engine.queryBinary(sql, "RowBinaryWithNames"));
    });

    test("answers a query while a write is running", async (t) => {
      const engine = await open(t);
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

    test("shows every query the rows that were written before it", async (t) => {
      const engine = await open(t);
      await makeTable(engine, "a");
      for (let rows = 1; rows <= 10; rows += 1) {
        await engine.insert("a", toRows([rows]));
        const counting = Array.from({ length: connectionsMax }, async () =>
          engine.query("SELECT count() FROM a"),
        );
        assert.deepEqual((await Promise.all(counting)).flat(2), Array(connectionsMax).fill(rows));
      }
    });

    test("R15: refuses queries beyond the bound of its queue, and answers those within it", async (t) => {
      const engine = await open(t);
      const count = connectionsMax + storeLimits.queriesWaitingMax;
      const requested = await Promise.allSettled(
        Array.from({ length: count }, async (_, index) =>
          engine.query(index < connectionsMax ? slow : `SELECT ${index}`),
        ),
      );
      const isAnswered = requested.map(({ status }) => status === "fulfilled");
      const answered = isAnswered.lastIndexOf(true) + 1;
      assert(answered > storeLimits.queriesWaitingMax && answered < count, `${answered} answers`);
      assert(isAnswered.slice(0, answered).every(Boolean));
      const [refused] = requested.slice(answered);
      assert(refused?.status === "rejected");
      assert.equal(refused.reason.code, "SERVICE_UNAVAILABLE");
      assert.deepEqual(requested[answered - 1], { status: "fulfilled", value: [[answered - 1]] });
    });

    test("answers the queries in its queue before it closes", async (t) => {
      const engine = await open(t);
      for (let index = 0; index < connectionsMax; index += 1) void engine.query(slow);
      let answer: unknown;
      const ask = async (): Promise<void> => {
        answer = await engine.query("SELECT 7");
      };
      void ask();
      await engine.close();
      assert.deepEqual(answer, [[7]]);
      await assert.rejects(engine.query("SELECT 1"), /closed/);
      await assert.rejects(engine.insert("a", toRows([1])), /closed/);
    });
  });
}
