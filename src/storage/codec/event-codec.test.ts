import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { anyStoredEvent } from "../../../test/support/any-stored-event.ts";
import { propertySettings, testSeed } from "../../../test/support/property-settings.ts";
import { subjectFieldByKind } from "../../contracts/events.ts";
import { decodeEvent, encodeEvent, getSubject } from "./event-codec.ts";

describe("stored events", () => {
  test("of every kind decode to the same event", () => {
    const kinds = new Set<string>();
    fc.assert(
      fc.property(anyStoredEvent, (event) => {
        kinds.add(event.kind);
        assert.deepEqual(decodeEvent(encodeEvent(event)), event);
      }),
      // A fixed number of runs, large enough that every kind occurs.
      { seed: testSeed, numRuns: 4000 },
    );
    assert.deepEqual([...kinds].toSorted(), Object.keys(subjectFieldByKind).toSorted());
  });

  test("have one of their own values as 32-byte subject, addresses padded on the left", () => {
    fc.assert(
      fc.property(anyStoredEvent, (event) => {
        const subject = getSubject(event);
        assert.match(subject, /^0x[0-9a-f]{64}$/);
        const values: readonly unknown[] = Object.values(event);
        const isAddress = subject.startsWith(`0x${"0".repeat(24)}`);
        const isOfExchange = /^0x0{64}$/.test(subject);
        const subjects = [subject, isAddress ? `0x${subject.slice(26)}` : subject];
        assert(isOfExchange || subjects.some((text) => values.includes(text)));
      }),
      propertySettings(500),
    );
  });
});
