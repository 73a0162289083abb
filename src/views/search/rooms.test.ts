import assert from "node:assert/strict";
import { test } from "node:test";
import { Rooms } from "./rooms.ts";

test("a block that was given back is taken again for as much, and for a little less", () => {
  const rooms = new Rooms(10_000);
  const block = rooms.take(4000);
  assert.ok(block.byteLength >= 4000 && block.byteLength < 5000);
  assert.notEqual(rooms.take(4000), block);
  rooms.give(block);
  assert.equal(rooms.take(3900), block);
  assert.notEqual(rooms.take(3900), block);
});

test("no more is kept than the bound, and first what no one has asked for lately goes", () => {
  const rooms = new Rooms(10_000);
  const [old, young] = [rooms.take(4000), rooms.take(8000)];
  rooms.give(old);
  rooms.give(young);
  assert.equal(rooms.take(8000), young);
  assert.notEqual(rooms.take(4000), old);
  const huge = rooms.take(20_000);
  rooms.give(huge);
  assert.notEqual(rooms.take(20_000), huge);
});

test("the next larger block is taken where there is none of the size, unless half of it would be left over", () => {
  const rooms = new Rooms(100_000);
  const [large, larger] = [rooms.take(10_000), rooms.take(14_000)];
  rooms.give(larger);
  rooms.give(large);
  assert.ok(![large, larger].includes(rooms.take(4000)));
  assert.equal(rooms.take(8000), large);
  assert.equal(rooms.take(8000), larger);
});

test("nothing is a block as well", () => {
  const rooms = new Rooms(10_000);
  assert.ok(rooms.take(0).byteLength >= 0);
});
