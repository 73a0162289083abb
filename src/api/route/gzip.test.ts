import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { acceptsGzip, endOfGzip, PackableBytes } from "./gzip.ts";

test("a compressed start and any end form one gzip member", async () => {
  const starts = ["", "a", "é".repeat(40_000), randomBytes(70_000).toString("hex")];
  const ends = ["", "}", '"é€😀"}', "x".repeat(65_535)];
  for (const level of [1, 9]) {
    for (const start of starts) {
      const packed = await new PackableBytes(Buffer.from(start), { level }).pack();
      for (const end of ends) {
        const member = Buffer.concat([packed.bytes, endOfGzip(packed, end)]);
        assert.equal(gunzipSync(member).toString(), start + end);
      }
    }
  }
});

test("bytes are compressed once for all requests", async () => {
  const packable = new PackableBytes(Buffer.from("abc".repeat(5000)));
  assert.equal(packable.packed, null);
  const all = await Promise.all([packable.pack(), packable.pack(), packable.pack()]);
  assert.deepEqual(new Set([...all, await packable.pack(), packable.packed]).size, 1);
});

test("at most two responses are compressed at a time; others are then sent uncompressed", async () => {
  const [first, second, third] = Array.from(
    { length: 3 },
    () => new PackableBytes(Buffer.from("abc".repeat(50_000))),
  );
  assert(first && second && third);
  assert(third.canBePackedSoon);
  const packing = [first.pack(), second.pack()];
  assert(first.canBePackedSoon, "it will be there as soon");
  assert(!third.canBePackedSoon);
  await Promise.all(packing);
  assert(third.canBePackedSoon);
});

test("gzip is accepted when the header names gzip or * with a weight above 0", () => {
  const taking = ["gzip", "GZIP", "deflate, gzip", "br;q=1.0, gzip;q=0.8", "*", "br, *;q=0.1"];
  const others = [
    "",
    "identity",
    "br",
    "gzip;q=0",
    "gzip; q=0.0",
    "*;q=0",
    "gzip;q=0, *",
    "gzip;q=x",
  ];
  for (const accepted of taking) assert(acceptsGzip({ "accept-encoding": accepted }), accepted);
  for (const accepted of others) assert(!acceptsGzip({ "accept-encoding": accepted }), accepted);
  assert(!acceptsGzip({}));
  assert(!acceptsGzip({ "accept-encoding": `gzip${",br".repeat(5000)}` }), "longer than it takes");
});
