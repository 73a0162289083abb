import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { anyStoredEvent } from "../../test/support/any-stored-event.ts";
import { testSeed } from "../../test/support/property-settings.ts";
import { encodeEvent, getSubject } from "../storage/codec/event-codec.ts";
import { isEventRow } from "./event-rows.ts";

test("imported rows of events are refused if a field is missing, unknown or of another type", () => {
  fc.assert(
    fc.property(anyStoredEvent, fc.nat(), (event, place) => {
      const fields = Object.keys(event).filter((name) => name !== "kind");
      const name = fields[place % fields.length] ?? "kind";
      const right = JSON.parse(encodeEvent(event)) as Record<string, unknown>;
      const row = { kind: event.kind, subject: getSubject(event) };
      assert(isEventRow({ ...row, payload: encodeEvent(event) }), encodeEvent(event));
      const { [name]: _value, ...missing } = right;
      const values = [-1, 1.5, "x", "0x0", {}, [], [null], ["0"], "9".repeat(90)];
      const changed = values.map((value) => ({ ...right, [name]: value }));
      for (const wrong of [missing, { ...right, more: 1 }, ...changed]) {
        const payload = JSON.stringify(wrong);
        assert(!isEventRow({ ...row, payload }), payload);
      }
    }),
    // Enough runs that every kind occurs.
    { seed: testSeed, numRuns: 2000 },
  );
});
