import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../test/support/property-settings.ts";
import { EndpointError } from "./chain-errors.ts";
import { formatBatch, parseBatchReply } from "./json-rpc.ts";
import { parseHeader } from "./parse-header.ts";

const batch = { firstId: 7, count: 2 };

test("calls bear ids in a row, replies come back in their order", () => {
  const calls = ["a", "b"].map((method) => ({ method, params: [] }));
  assert.deepEqual(JSON.parse(formatBatch(calls, 7)), [
    { jsonrpc: "2.0", id: 7, method: "a", params: [] },
    { jsonrpc: "2.0", id: 8, method: "b", params: [] },
  ]);
  const replies = [
    { id: 8, result: null },
    { id: 7, error: { code: -1, message: "no", data: {} } },
  ];
  assert.deepEqual(parseBatchReply(replies, batch), [
    { kind: "error", code: -1, message: "no" },
    { kind: "result", value: null },
  ]);
});

test("a lone error answers every call", () => {
  const error = { id: null, error: { code: 429, message: "slow" } };
  const expected = { kind: "error", code: 429, message: "slow" };
  assert.deepEqual(parseBatchReply(error, batch), [expected, expected]);
  const strange = { error: { code: "x", message: { toString: 1 } } };
  const unknown = { kind: "error", code: 0, message: "" };
  assert.deepEqual(parseBatchReply(strange, batch), [unknown, unknown]);
});

test("replies that are missing, doubled or strange are malformed", () => {
  const fine = { id: 7, result: 1 };
  for (const value of [
    [],
    [fine],
    [fine, fine],
    [fine, { id: 9, result: 1 }],
    [fine, { id: "8", result: 1 }],
    [fine, { id: 8 }],
    [fine, null],
    fine,
    null,
    "text",
  ]) {
    assert.throws(() => parseBatchReply(value, batch), EndpointError, JSON.stringify(value));
  }
});

test("R14: whatever comes, the answer is a value or an EndpointError", () => {
  const reply = fc.record({ id: fc.oneof(fc.constantFrom(7, 8), fc.anything()) });
  const anything = fc.oneof(fc.anything(), fc.array(reply), fc.array(fc.anything()));
  fc.assert(
    fc.property(anything, (value) => {
      for (const parse of [() => parseBatchReply(value, batch), () => parseHeader(value)]) {
        try {
          parse();
        } catch (thrown) {
          assert(thrown instanceof EndpointError, String(thrown));
        }
      }
    }),
    propertySettings(300),
  );
});

test("a header is read; null is not yet", () => {
  const hash = `0x${"AB".repeat(32)}`;
  const logsBloom = `0x${"0".repeat(512)}`;
  const json = { number: "0xa", hash, parentHash: hash, timestamp: "0x64", logsBloom };
  const lower = hash.toLowerCase();
  const header = { number: 10, hash: lower, parentHash: lower, timestamp: 100, logsBloom };
  assert.deepEqual(parseHeader({ ...json, transactions: [] }), header);
  assert.equal(parseHeader(null), null);
  for (const field of Object.keys(json)) {
    assert.throws(() => parseHeader({ ...json, [field]: null }), EndpointError, field);
  }
});
