/** What the writer writes, the real engine reads: any bytes, any text, any number. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { TsvWriter } from "../../src/store/tsv-writer.ts";
import { propertySettings } from "../support/property-settings.ts";
import { StoreFolder } from "../support/store-folder.ts";

const hexDigits = (bytes: number): fc.Arbitrary<string> =>
  // Bytes that need escaping come as often as all others together.
  fc
    .array(fc.oneof(fc.constantFrom(0, 8, 9, 10, 12, 13, 39, 92), fc.nat(255)), {
      minLength: bytes,
      maxLength: bytes,
    })
    .map((values) => `0x${Buffer.from(values).toString("hex")}`);

const anyRow = fc.record({
  word: hexDigits(32),
  address: hexDigits(20),
  text: fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.string({ unit: fc.constantFrom("\\", "\t", "\n", "\r", "\0", "N", "'", "t", "\\N") }),
    fc.constantFrom("", "\\N", "\\", "a\tb", "NULL"),
  ),
  uint: fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }),
});

test("rows come out as they went in", async (t) => {
  const { engine } = (await StoreFolder.open(t)).store;
  await engine.command(
    `CREATE TABLE oddwire.rows (n UInt32, word FixedString(32), text String, uint UInt128,
     address FixedString(20)) ENGINE = MergeTree ORDER BY n`,
  );
  const long = { word: `0x${"5c".repeat(32)}`, address: `0x${"00".repeat(20)}`, uint: 0n };
  const rows = [
    ...fc.sample(anyRow, propertySettings(3000)),
    // Longer than any buffer there is at first.
    { ...long, text: "\\\t\n".repeat(100_000) },
    { ...long, text: "x" },
  ];
  const writer = new TsvWriter();
  for (const [n, { word, text, uint, address }] of rows.entries()) {
    writer.plain(n).hex(word).text(text).plain(uint).hex(address).endRow();
  }
  assert.equal(writer.rows, rows.length);
  await engine.insert("oddwire.rows", writer.finish());
  const read = await engine.query(
    "SELECT hex(word), hex(text), toString(uint), hex(address) FROM oddwire.rows ORDER BY n",
  );
  const upper = (hex: string): string => hex.slice(2).toUpperCase();
  const expected = rows.map(({ word, text, uint, address }) => [
    upper(word),
    Buffer.from(text, "utf8").toString("hex").toUpperCase(),
    uint.toString(),
    upper(address),
  ]);
  assert.deepEqual(read, expected);
});

test("nothing written is nothing inserted", async (t) => {
  const { engine } = (await StoreFolder.open(t)).store;
  await engine.insert("no_such_table", new TsvWriter().finish());
});
