/** The real engine reads back the rows of the writer: any bytes, any text, any number. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { formatMicros } from "../../src/base/decimal.ts";
import { RowWriter } from "../../src/storage/codec/row-writer.ts";
import { propertySettings } from "../support/property-settings.ts";
import { StoreFolder } from "../support/store-folder.ts";

const hexDigits = (bytes: number): fc.Arbitrary<string> =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((values) => `0x${Buffer.from(values).toString("hex")}`);

/** Integers around every limit of a width, and any integer in between. */
const integers = (min: bigint, max: bigint): fc.Arbitrary<bigint> =>
  fc.oneof(
    fc
      .constantFrom(0n, 31n, 32n, 52n, 53n, 63n, 64n, 126n)
      .chain((bits) => fc.constantFrom(1n, -1n).map((sign) => sign * 2n ** bits))
      .chain((border) => fc.constantFrom(-1n, 0n, 1n).map((step) => border + step))
      .filter((value) => value >= min && value <= max),
    fc.bigInt({ min, max }),
  );
const decimalMax = 10n ** 38n - 1n;

const anyRow = fc.record({
  word: hexDigits(32),
  address: hexDigits(20),
  text: fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    // Lengths on both sides of a limit from which the length prefix needs another byte.
    fc.constantFrom(0, 127, 128, 16_383, 16_384).map((length) => "x".repeat(length)),
  ),
  uint8: fc.nat(255),
  uint16: fc.nat(65_535),
  uint32: fc.nat(2 ** 32 - 1),
  uint64: fc.maxSafeNat(),
  uint128: integers(0n, 2n ** 128n - 1n),
  micros: integers(-decimalMax, decimalMax),
});

test("rows are read back as they were written, and truncated rows are not inserted at all", async (t) => {
  const { engine } = (await StoreFolder.open(t)).store;
  await engine.command(
    `CREATE TABLE rows (n UInt32, word FixedString(32), address FixedString(20),
     text String, uint8 UInt8, uint16 UInt16, uint32 UInt32, uint64 UInt64, uint128 UInt128,
     micros Decimal(38, 6)) ENGINE = MergeTree ORDER BY n`,
  );
  const samples = fc.sample(anyRow, propertySettings(3000));
  // One text is longer than the initial buffer.
  const rows = samples.map((row, n) => (n === 9 ? { ...row, text: "x\n\0".repeat(100_000) } : row));
  const writer = new RowWriter();
  for (const [n, row] of rows.entries()) {
    writer.uint32(n).hex(row.word).hex(row.address).text(row.text).uint8(row.uint8);
    writer.uint16(row.uint16).uint32(row.uint32).uint64(row.uint64);
    writer.int128(row.uint128).int128(row.micros);
  }
  const written = writer.finish();
  await assert.rejects(engine.insert("rows", written.subarray(0, -1)));
  assert.deepEqual(await engine.query("SELECT count() FROM rows"), [[0]]);
  await engine.insert("rows", written);
  const read = await engine.query(
    `SELECT hex(word), hex(address), hex(text), uint8, uint16, uint32, uint64, toString(uint128),
     micros FROM rows ORDER BY n`,
  );
  const upper = (hex: string): string => hex.slice(2).toUpperCase();
  const expected = rows.map((row) => [
    upper(row.word),
    upper(row.address),
    Buffer.from(row.text, "utf8").toString("hex").toUpperCase(),
    row.uint8,
    row.uint16,
    row.uint32,
    row.uint64,
    row.uint128.toString(),
    formatMicros(row.micros),
  ]);
  assert.deepEqual(read, expected);
});

test("repeated values of a column are written like any other value", () => {
  const word = fc.constantFrom(
    `0x${"0".repeat(64)}`,
    `0x${"0f".repeat(32)}`,
    `0x${"f0".repeat(32)}`,
  );
  const holds = fc.property(fc.array(fc.tuple(word, word)), (rows) => {
    // The first buffer is too small, so that it grows in between.
    const [repeating, plain] = [new RowWriter(40), new RowWriter()];
    for (const [one, other] of rows) {
      // Equal text, but not the same string object.
      repeating
        .repeated(0, one.slice(0, 40) + one.slice(40))
        .uint8(7)
        .repeated(3, other);
      plain.hex(one).uint8(7).hex(other);
    }
    assert.deepEqual(repeating.finish(), plain.finish());
  });
  fc.assert(holds, propertySettings(200));
});

test("one insert of any number of rows becomes one part", async (t) => {
  const { engine } = (await StoreFolder.open(t)).store;
  await engine.command("CREATE TABLE rows (n UInt32) ENGINE = MergeTree ORDER BY n");
  const count = 2_000_000;
  const writer = new RowWriter();
  for (let n = 0; n < count; n += 1) writer.uint32(n);
  await engine.insert("rows", writer.finish());
  const parts = await engine.query("SELECT uniq(_part), count() FROM rows");
  assert.deepEqual(parts, [[1, count]]);
});

test("a writer without rows inserts nothing", async (t) => {
  const { engine } = (await StoreFolder.open(t)).store;
  await engine.insert("no_such_table", new RowWriter().finish());
});
