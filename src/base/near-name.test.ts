import assert from "node:assert/strict";
import { test } from "node:test";
import { nearName, unknownName, wrongValue } from "./near-name.ts";

const names = ["limit", "cursor", "order", "include_complement"];

test("finds the intended name despite a typo or another case", () => {
  assert.equal(nearName("limt", names), "limit");
  assert.equal(nearName("lmiit", names), "limit");
  assert.equal(nearName("Limit", names), "limit");
  assert.equal(nearName("curser", names), "cursor");
  assert.equal(nearName("includeComplement", names), "include_complement");
});

test("finds no name for one that is unlike all others, or very long", () => {
  assert.equal(nearName("resolution", names), null);
  assert.equal(nearName("x", names), null);
  assert.equal(nearName("limit".repeat(1000), names), null);
});

test("the message about an unknown name suggests a valid one, also for terms of other APIs, and lists all", () => {
  const valid = ["search", "wallet", "token_ids", "limit"];
  const all = "Valid names: search, wallet, token_ids, limit";
  assert.equal(unknownName("q", valid), `is not known here; did you mean search? ${all}`);
  assert.equal(unknownName("address", valid), `is not known here; did you mean wallet? ${all}`);
  assert.equal(unknownName("token", valid), `is not known here; did you mean token_ids? ${all}`);
  assert.equal(unknownName("limt", valid), `is not known here; did you mean limit? ${all}`);
  assert.equal(unknownName("until", ["x"]), "is not known here; valid names: x");
  assert.equal(unknownName("constructor", ["x"]), "is not known here; valid names: x");
});

test("a field name with its unit is recognized, although another name is more similar", () => {
  assert.match(wrongValue("volume_usd", "x", ["volume_24h", "volume"]), /did you mean volume\?$/);
  assert.match(wrongValue("volume_24h_usd", "x", ["volume", "volume_24h"]), /mean volume_24h\?$/);
  assert.match(
    unknownName("min_volume_usd", ["min_volume_24h", "min_volume"]),
    /mean min_volume\?/,
  );
});

test("the message about a wrong value quotes it, unless it is nested too deeply to be written", () => {
  assert.equal(wrongValue([1], "a number"), "must be a number; got [1]");
  const long = "5".repeat(99);
  assert.equal(wrongValue(long, "short"), `must be short; got "${long.slice(0, 63)}..."`);
  assert.equal(
    wrongValue([`"${long}`], "short"),
    `must be short; got ["\\"${long.slice(0, 60)}..."`,
  );
  const closed = wrongValue([long.slice(0, 61), 5], "short");
  assert.equal(closed, `must be short; got ["${long.slice(0, 61)}"...`);
  const deep: unknown = JSON.parse("[".repeat(30_000) + "]".repeat(30_000));
  assert.equal(wrongValue(deep, "a number"), "must be a number; got deeply nested JSON");
});
