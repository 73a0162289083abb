import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { parseTime } from "./parameters.ts";

test("times are epoch seconds, epoch milliseconds or RFC 3339", () => {
  assert.equal(parseTime("0"), 0);
  assert.equal(parseTime("1767225600"), 1_767_225_600_000);
  assert.equal(parseTime("1767225600123"), 1_767_225_600_123);
  assert.equal(parseTime("2026-01-01T00:00:00Z"), 1_767_225_600_000);
  assert.equal(parseTime("2026-01-01t00:00:00.123456z"), 1_767_225_600_123);
  assert.equal(parseTime("2026-01-01T02:30:00+02:30"), 1_767_225_600_000);
  assert.equal(parseTime("2024-02-29T00:00:00Z"), 1_709_164_800_000);
});

test("a date is its midnight in UTC", () => {
  assert.equal(parseTime("2026-01-01"), 1_767_225_600_000);
  assert.equal(parseTime("2024-02-29"), 1_709_164_800_000);
});

test("any other text is not a time", () => {
  const texts = ["", "-1", "1.5", "1e9", "123456789012", "12345678901234", "2026-1-1"];
  const dates = ["2026-02-30", "2026-02-29", "2026-13-01", "2026-00-10", "2026-01-32"];
  const times = [
    "24:00:00Z",
    "24:00:01Z",
    "00:60:00Z",
    "00:00:60Z",
    "00:00:00",
    "00:00:00 02:00",
    "00:00Z",
  ];
  const offsets = ["+24:00", "-00:60", "+0100", "+1:00"];
  texts.push(...dates, ...dates.map((date) => `${date}T00:00:00Z`));
  texts.push(...times.map((time) => `2026-01-01T${time}`));
  texts.push(...offsets.map((offset) => `2026-01-01T00:00:00${offset}`));
  for (const text of texts) assert.equal(parseTime(text), null, text);
});

test("the ISO text of any point in time is parsed to that time", () => {
  const until = new Date("9999-12-31T23:59:59Z");
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: until, noInvalidDate: true }), (date) => {
      assert.equal(parseTime(date.toISOString()), date.getTime());
    }),
  );
});
