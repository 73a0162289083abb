/** Rows read out of the files of the engine, against what the engine itself finds. */
import assert from "node:assert/strict";
import { cp, mkdtemp, open, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, type TestContext, test } from "node:test";
import * as fc from "fast-check";
import { fillColdStore, tokensOf } from "../../bench/cold-store.ts";
import type { TokenId } from "../../src/base/ids.ts";
import type { Fill } from "../../src/market/fill.ts";
import { deleteRows, readCount } from "../../src/store/delete-rows.ts";
import { FactStore } from "../../src/store/fact-store.ts";
import { enumCodes } from "../../src/store/fill-layout.ts";
import type { NativeBlock } from "../../src/store/native-blocks.ts";
import { fillsByToken, minutesByToken } from "../../src/store/parts/part-layouts.ts";
import { PartShelf } from "../../src/store/parts/part-shelf.ts";
import { type PartRows, PartRowsReader } from "../../src/store/parts/read-part-rows.ts";
import { hexLiteral } from "../../src/store/sql-literal.ts";
import { readStoredFills, readTokenFills } from "../../src/store/stored-fills.ts";
import { propertySettings, testSeed } from "../support/property-settings.ts";
import { SeededRandom } from "../support/seeded-random.ts";

const trades = 20_000;
const secondsPerBlock = 60;
const { ids } = tokensOf(trades);
/** The first has a tenth of all trades: more than a granule. */
const tokens = [...ids.slice(0, 12), `0x${"00".repeat(32)}`, `0x${"ff".repeat(32)}`] as TokenId[];
const always = { firstTimestamp: 0, lastTimestamp: Number.MAX_SAFE_INTEGER };
const [maker, taker] = [enumCodes.role.maker, enumCodes.role.taker];

let made = "";
before(async () => {
  made = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  await fillColdStore({ dataDir: made, trades, secondsPerBlock });
});
test.after(async () => rm(made, { recursive: true, force: true }));

/** A copy of the store that was made. */
async function openStore(t: TestContext): Promise<{ store: FactStore; path: string }> {
  const path = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  await cp(made, path, { recursive: true, verbatimSymlinks: true });
  const store = await FactStore.open(path);
  t.after(async () => {
    await store.close();
    await rm(path, { recursive: true, force: true });
  });
  return { store, path };
}

/** The same rows later in the chain, and some of them between those that there are. */
async function addParts({ engine }: FactStore): Promise<void> {
  await engine.command("SYSTEM STOP MERGES oddwire.fills");
  for (const [seqs, seconds, where] of [
    [10 ** 10, 10 ** 6, "seq % 3 = 0"],
    [2 * 10 ** 10, 2 * 10 ** 6, "seq % 7 = 0"],
    [500, 0, "seq % 11 = 0"],
  ] as const) {
    await engine.command(
      `INSERT INTO oddwire.fills SELECT * REPLACE (seq + ${seqs} AS seq, timestamp + ${seconds} AS timestamp)
       FROM oddwire.fills WHERE seq < ${10 ** 10} AND ${where}`,
    );
  }
}

const anyTime = fc.integer({ min: 1_780_000_000, max: 1_783_000_000 });
const anySeq = fc.oneof(
  fc.integer({ min: 0, max: 6 * 10 ** 8 }),
  fc.integer({ min: 0, max: 3 * 10 ** 10 }),
);
const anyChoice = fc.record({
  tokenId: fc.constantFrom(...tokens),
  from: fc.oneof(fc.constant(0), anySeq),
  to: fc.oneof(fc.constant(Number.MAX_SAFE_INTEGER), anySeq),
  firstTimestamp: fc.oneof(fc.constant(0), anyTime),
  lastTimestamp: fc.oneof(fc.constant(Number.MAX_SAFE_INTEGER), anyTime),
  roles: fc.constantFrom(null, [maker], [taker], [maker, taker]),
  order: fc.constantFrom("asc" as const, "desc" as const),
  limit: fc.oneof(fc.integer({ min: 1, max: 120 }), fc.constant(3000)),
});

async function assertFillsFound(store: FactStore, runs: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(anyChoice, async ({ firstTimestamp, lastTimestamp, ...choice }) => {
      const times = { firstTimestamp, lastTimestamp };
      const found = await readTokenFills(store.reader, { ...choice, times });
      assert.ok(found !== null, "the engine need not be asked");
      const { tokenId, from, to, order, limit, roles } = choice;
      const wanted = await readStoredFills(
        store.engine,
        `oddwire.fills WHERE token_id = ${hexLiteral(tokenId)} AND seq >= ${from} AND seq < ${to}
         AND timestamp >= ${firstTimestamp} AND timestamp <= ${lastTimestamp}
         ${roles === null ? "" : `AND toInt8(role) IN (${roles.join()})`} ORDER BY seq ${order} LIMIT ${limit}`,
      );
      assert.deepEqual(firstOf(found, order, limit), wanted);
    }),
    propertySettings(runs),
  );
}

function firstOf(fills: readonly Fill[], order: "asc" | "desc", limit: number): Fill[] {
  const sign = order === "asc" ? 1 : -1;
  return fills.toSorted((a, b) => sign * (a.seq - b.seq)).slice(0, limit);
}

describe("rows read out of the files of the engine", () => {
  test("are the fills that it finds, of one part and of many, whatever becomes of those", async (t) => {
    const { store } = await openStore(t);
    await assertFillsFound(store, 30);
    await addParts(store);
    await assertFillsFound(store, 100);
    await store.engine.command("SYSTEM START MERGES oddwire.fills");
    await Promise.all([
      store.engine.command("OPTIMIZE TABLE oddwire.fills FINAL"),
      assertFillsFound(store, 60),
    ]);
    await assertFillsFound(store, 40);
    await store.engine.command(
      "ALTER TABLE oddwire.fills DELETE WHERE seq % 5 = 0 SETTINGS mutations_sync = 2",
    );
    await assertFillsFound(store, 40);
  });

  test("are none once their part is dropped", async (t) => {
    const { store } = await openStore(t);
    await addParts(store);
    const [[name] = []] = await store.engine.query(
      "SELECT _part FROM oddwire.fills ORDER BY seq DESC LIMIT 1",
    );
    await store.engine.command(`ALTER TABLE oddwire.fills DROP PART '${String(name)}'`);
    await assertFillsFound(store, 60);
    await store.engine.command("TRUNCATE TABLE oddwire.fills");
    await assertFillsFound(store, 10);
  });

  test("are the minutes that it finds", async (t) => {
    const { store } = await openStore(t);
    const { engine, reader } = store;
    await engine.command("SYSTEM STOP MERGES oddwire.minute_candles");
    await engine.command(
      `INSERT INTO oddwire.minute_candles SELECT * REPLACE (minute + 120 AS minute) FROM oddwire.minute_candles
       WHERE minute % 180 = 0`,
    );
    const anyMinutes = fc.record({
      tokenId: fc.constantFrom(...tokens),
      from: anyTime,
      to: anyTime,
    });
    await fc.assert(
      fc.asyncProperty(anyMinutes, async ({ tokenId, from, to }) => {
        const times = { firstTimestamp: from, lastTimestamp: to - 1 };
        const place = { table: "minute_candles", tokenId, from, to, times, roles: null } as const;
        const found = await reader.readRows({ ...place, order: "asc", limit: 100_000 });
        assert.ok(found !== null, "the engine need not be asked");
        const wanted = await engine.query(
          `SELECT minute, trades, toString(volume) FROM oddwire.minute_candles
           WHERE token_id = ${hexLiteral(tokenId)} AND minute >= ${from} AND minute < ${to} ORDER BY minute, volume`,
        );
        assert.equal(found.rows, wanted.length);
        assert.deepEqual(minutesOf(found), wanted);
      }),
      propertySettings(60),
    );
  });

  test("are those that were not deleted, also of parts that had others too", async (t) => {
    const { store } = await openStore(t);
    const { engine, reader } = store;
    await engine.command("OPTIMIZE TABLE oddwire.minute_candles FINAL");
    const [row] = await engine.query("SELECT max(minute) FROM oddwire.minute_candles");
    const last = Number(row?.[0]);
    await deleteRows(engine, "oddwire.minute_candles", `minute >= ${last}`);
    const place = {
      table: "minute_candles",
      from: 0,
      to: last + 60,
      times: always,
      roles: null,
    } as const;
    for (const tokenId of tokens) {
      const found = await reader.readRows({ ...place, tokenId, order: "asc", limit: 100_000 });
      assert.ok(found !== null, "the engine need not be asked");
      const stored = `oddwire.minute_candles WHERE token_id = ${hexLiteral(tokenId)}`;
      assert.equal(found.rows, await readCount(engine, stored));
    }
  });

  test("are right or none when anything of a part is damaged", async (t) => {
    const { store, path } = await openStore(t);
    await addParts(store);
    await store.engine.command("OPTIMIZE TABLE oddwire.minute_candles FINAL");
    const random = new SeededRandom(testSeed);
    for (const [table, layout] of [
      ["fills", fillsByToken],
      ["minute_candles", minutesByToken],
    ] as const) {
      const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
      t.after(async () => rm(folder, { recursive: true, force: true }));
      await cp(join(path, "facts", "data", "oddwire", table), folder, {
        recursive: true,
        dereference: true,
      });
      const shelf = () => new PartRowsReader(new PartShelf(folder, layout));
      const whole = readAll(shelf());
      assert.ok(whole !== null && whole.some(({ rows }) => rows > 100));
      let unread = 0;
      for (let round = 0; round < 60; round += 1) {
        const undo = await damageOne(folder, random);
        const found = readAll(shelf());
        if (found === null) unread += 1;
        else assert.deepEqual(found, whole);
        await undo();
      }
      assert.ok(unread > 10, `${unread} rounds found the damage`);
    }
  });

  test("are asked of the engine when a table has other columns, and of no other folder", async (t) => {
    const { store, path } = await openStore(t);
    const choice = { tokenId: tokens[0] as TokenId, from: 0, to: 10 ** 12, times: always };
    const ask = async () =>
      store.reader.readRows({ ...choice, table: "fills", roles: null, order: "asc", limit: 1 });
    assert.equal((await ask())?.rows, 1);
    await store.engine.command("ALTER TABLE oddwire.fills ADD COLUMN other UInt8 DEFAULT 1");
    await store.engine.command(
      "ALTER TABLE oddwire.fills UPDATE other = 2 WHERE 1 SETTINGS mutations_sync = 2",
    );
    assert.equal(await ask(), null);
    const nowhere = new PartRowsReader(new PartShelf(join(path, "nowhere"), fillsByToken));
    assert.throws(() => nowhere.refresh(), { code: "ENOENT" });
  });
});

/** Of every token, all rows. */
function readAll(reader: PartRowsReader): PartRows[] | null {
  try {
    return tokens.map((tokenId) => {
      const token = Buffer.from(tokenId.slice(2), "hex");
      const place = { token, from: 0, to: Number.MAX_SAFE_INTEGER, times: always, roles: null };
      const found = reader.read({ ...place, order: "desc", limit: 100_000 });
      assert.ok(found !== null, "it is not too much to read");
      return found;
    });
  } catch (thrown) {
    if (thrown instanceof assert.AssertionError) throw thrown;
    return null;
  } finally {
    reader.close();
  }
}

/** Changes a bit of one of the files; gives back what undoes that. */
async function damageOne(folder: string, random: SeededRandom): Promise<() => Promise<void>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.parentPath !== folder);
  const { parentPath, name } = random.pick(files);
  const path = join(parentPath, name);
  const { size } = await stat(path);
  if (size === 0) return async () => {};
  const at = random.integer(0, size - 1);
  const bit = 1 << random.integer(0, 7);
  const flip = async (): Promise<void> => {
    const file = await open(path, "r+");
    const byte = Buffer.alloc(1);
    await file.read(byte, 0, 1, at);
    await file.write(Buffer.of((byte[0] ?? 0) ^ bit), 0, 1, at);
    await file.close();
  };
  await flip();
  return flip;
}

/** The minute, how many trades and the volume of each row, as the engine's JSON has them. */
function minutesOf({ rows, columns }: Pick<NativeBlock, "rows" | "columns">): unknown[] {
  const [, minutes, , , , , , , volumes, , , counts] = columns;
  return Array.from({ length: rows }, (_, row) => {
    const micros = Number(volumes?.readBigInt64LE(16 * row)) / 1e6;
    return [
      minutes?.readUInt32LE(4 * row),
      Number(counts?.readBigUInt64LE(8 * row)),
      String(micros),
    ];
  }).toSorted(([a, , b], [c, , d]) => Number(a) - Number(c) || Number(b) - Number(d));
}
