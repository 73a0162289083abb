import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { getAbis } from "../../../test/support/event-abis.ts";
import { anyLog } from "../../../test/support/generate-event-logs.ts";
import { propertySettings, testSeed } from "../../../test/support/property-settings.ts";
import { knownContracts } from "../../../test/support/recorded-chain.ts";
import { isStoredEvent, type StoredEvent, subjectFieldByKind } from "../../contracts/events.ts";
import { LogDecoder } from "../../contracts/log-decoder.ts";
import { decodeEvent, encodeEvent, getSubject, isEventRow } from "./event-codec.ts";

const contracts = knownContracts();
const decoder = new LogDecoder(contracts);
const sources = [...contracts.byAddress.values()].flatMap((contract) =>
  getAbis(contract).map(({ item }) => ({ contract, item })),
);

/** Any event that a log of the known contracts can decode to and that is stored, of every kind. */
const anyStoredEvent: fc.Arbitrary<StoredEvent> = fc
  .constantFrom(...sources)
  .chain(({ contract, item }) => anyLog(item, contract.address))
  .map((log) => decoder.decode(log)?.event)
  .filter((event) => event !== undefined)
  .filter(isStoredEvent);

describe("stored events", () => {
  test("of every kind decode to the same event", () => {
    const kinds = new Set<string>();
    fc.assert(
      fc.property(anyStoredEvent, (event) => {
        kinds.add(event.kind);
        const payload = encodeEvent(event);
        assert.deepEqual(decodeEvent(payload), event);
        const row = { kind: event.kind, subject: getSubject(event) };
        assert(isEventRow({ ...row, payload }), payload);
      }),
      // A fixed number of runs, large enough that every kind occurs.
      { seed: testSeed, numRuns: 4000 },
    );
    assert.deepEqual([...kinds].toSorted(), Object.keys(subjectFieldByKind).toSorted());
  });

  test("from outside are refused if a field is missing, is too much or has another type", () => {
    fc.assert(
      fc.property(anyStoredEvent, fc.nat(), (event, place) => {
        const fields = Object.keys(event).filter((name) => name !== "kind");
        const name = fields[place % fields.length] ?? "kind";
        const right = JSON.parse(encodeEvent(event)) as Record<string, unknown>;
        const { [name]: _value, ...missing } = right;
        const values = [-1, 1.5, "x", "0x0", {}, [], [null], ["0"], "9".repeat(90)];
        const changed = values.map((value) => ({ ...right, [name]: value }));
        for (const wrong of [missing, { ...right, more: 1 }, ...changed]) {
          const payload = JSON.stringify(wrong);
          const row = { kind: event.kind, subject: getSubject(event), payload };
          assert(!isEventRow(row), payload);
        }
      }),
      propertySettings(500),
    );
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
