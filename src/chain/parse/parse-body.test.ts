import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../../test/support/property-settings.ts";
import type { Address, Hash } from "../../base/ids.ts";
import { EndpointError } from "../chain-errors.ts";
import { parseBody } from "./parse-body.ts";
import { ParsedLogs, parseLogs } from "./parse-log.ts";
import type { Body } from "./response-body.ts";
import { plainLog } from "./scanned-log.ts";

/** Some of these differ only in their first digits. */
const addresses = ["ab".repeat(20), "cd".repeat(20), `cd${"ab".repeat(19)}`].map(
  (digits) => `0x${digits}` as Address,
);
const topics0 = ["01".repeat(32), "02".repeat(32), `02${"01".repeat(31)}`].map(
  (digits) => `0x${digits}` as Hash,
);
/** Scans small answers too. */
const scannedMin = 0;

const digit = fc.nat(15).map((value) => value.toString(16));
const anyDigits = (count: number) =>
  fc.string({ unit: digit, minLength: count, maxLength: count }).map((digits) => `0x${digits}`);
const anyHash = fc.oneof(
  fc.constantFrom(`0x${"0b".repeat(32)}`, `0x0c${"0b".repeat(31)}`),
  anyDigits(64),
);
/** Up to 52 bits. No chain sends larger quantities, and they are not scanned. */
const anyQuantity = fc
  .oneof(fc.nat(999), fc.integer({ min: 0, max: 2 ** 52 - 1 }))
  .map((value) => `0x${value.toString(16)}`);
const anyLog = fc.record({
  address: fc.constantFrom(...addresses),
  topics: fc
    .tuple(fc.constantFrom(...topics0), fc.array(anyHash, { maxLength: 3 }))
    .map((parts) => parts.flat()),
  data: fc.nat(80).chain((bytes) => anyDigits(bytes * 2)),
  blockNumber: anyQuantity,
  blockHash: anyHash,
  blockTimestamp: anyQuantity,
  transactionHash: anyHash,
  transactionIndex: anyQuantity,
  logIndex: fc.nat(999_999).map((value) => `0x${value.toString(16)}`),
  removed: fc.constant(false),
});
const memberNames = [
  "address",
  "topics",
  "data",
  "blockNumber",
  "blockHash",
  "blockTimestamp",
  "transactionHash",
  "transactionIndex",
  "logIndex",
  "removed",
] as const;

/** An answer of a node that writes the members of all logs in one order, with or without the optional ones. */
const anyAnswer = fc
  .record({
    logs: fc.array(anyLog, { minLength: 1, maxLength: 5 }),
    order: fc.shuffledSubarray([...memberNames], { minLength: memberNames.length }),
    left: fc.subarray(["blockTimestamp", "removed"]),
    isBatch: fc.boolean(),
  })
  .map(({ logs, order, left, isBatch }) => {
    const names = order.filter((name) => !left.includes(name));
    const result = logs.map((log) => Object.fromEntries(names.map((name) => [name, log[name]])));
    const reply = { jsonrpc: "2.0", id: 2, result };
    const batch = [{ id: 1, result: { hash: "0x", note: "größer" } }, reply, { id: 3, result: [] }];
    return JSON.stringify(isBatch ? batch : reply);
  });

/** A text to put in place of a part of an answer. */
const anyPiece = fc.oneof(
  fc.constantFrom("0", "f", "F", "g", "x", '"', "\\", "[", "]", "{", "}", ",", ":", " ", "\n"),
  fc.constantFrom('"result":[{', '\\"result":[{', '"removed":true', '"removed":0', "null", "[]"),
  fc.constantFrom("\\u0061", "ä", '"data":"0x"', '"topics":[]', "\u0000", "},{", '"__proto__":1,'),
);
const anyChange = fc.record({ at: fc.nat(), removed: fc.nat(3), piece: anyPiece });

test("logs scanned from bytes equal logs parsed with JSON.parse", () => {
  fc.assert(
    fc.property(anyAnswer, (text) => {
      const value = parseBody(getBody(Buffer.from(text)), scannedMin);
      const replies: readonly unknown[] = Array.isArray(value) ? value : [value];
      assert(replies.some((reply) => getResult(reply) instanceof ParsedLogs));
      assertSame(Buffer.from(text));
    }),
    propertySettings(300),
  );
});

test("R14: an altered answer has the same result as with JSON.parse", () => {
  const changes = fc.array(anyChange, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(anyAnswer, changes, (text, made) => {
      let changed = text;
      for (const { at, removed, piece } of made) {
        const start = at % changed.length;
        changed = changed.slice(0, start) + piece + changed.slice(start + removed);
      }
      assertSame(Buffer.from(changed));
    }),
    propertySettings(3_000),
  );
});

test("R14: a truncated answer, or one with a wrong byte, has the same result as with JSON.parse", () => {
  fc.assert(
    fc.property(anyAnswer, fc.nat(), fc.nat(255), (text, place, byte) => {
      const body = Buffer.from(text);
      const at = place % body.length;
      assertSame(body.subarray(0, at));
      body[at] = byte;
      assertSame(body);
    }),
    propertySettings(1_000),
  );
});

test("a lookalike or repeated result member is parsed as by JSON.parse", () => {
  const log = JSON.stringify(fc.sample(anyLog, { numRuns: 1, seed: 1 })[0]);
  const list = `"result":[${log}]`;
  for (const text of [
    `{"id":1,"a\\${list}}`,
    `{"id":1,"deeper":{${list}}}`,
    `{"id":1,${list},"result":null}`,
    `{"id":1,"result":null,${list}}`,
    `[{"id":1,"x":{${list}}},{"id":2,${list}}]`,
    `{"id":1,"result":[${log},${log},]}`,
    `{"id":1,"result":[${log}],}`,
    `[{"result":"the logs of this answer"},{"x":{${list}}}]`,
    `[{"result":"the logs of thi\\u0073 answer"},{"x":{${list}}}]`,
  ]) {
    assertSame(Buffer.from(text));
  }
});

function getBody(bytes: Buffer): Body {
  return { bytes, release: () => {} };
}

function assertSame(body: Buffer): void {
  const expected = withAllLogs(parseJson(body));
  const actual = withAllLogs(parseBody(getBody(body), scannedMin));
  assert.deepEqual(actual, expected, body.toString());
}

/** Parses an answer; `undefined` when it is not JSON. */
function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Parses the results of an answer as logs. */
function withAllLogs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withLogs);
  return withLogs(value);
}

function withLogs(reply: unknown): unknown {
  const result = getResult(reply);
  if (result === undefined) return reply;
  try {
    const { logs } = parseLogs(result);
    const timed = logs.map((log) => ({ ...plainLog(log), timestamp: log.timestamp }));
    return { ...(reply as object), result: timed };
  } catch (thrown) {
    assert(thrown instanceof EndpointError);
    return reply;
  }
}

function getResult(reply: unknown): unknown {
  const isReply = typeof reply === "object" && reply !== null && "result" in reply;
  return isReply ? reply.result : undefined;
}
