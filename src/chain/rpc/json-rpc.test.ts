import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { EndpointError } from "../chain-errors.ts";
import { parseHeader } from "../parse/parse-header.ts";
import { formatCalls, getResult, parseReplies, parseSingleReply } from "./json-rpc.ts";
import { ProviderError } from "./provider-messages.ts";

const batch = { firstId: 7, count: 2 };

test("calls get consecutive ids, and replies are put in the order of the calls", () => {
  const calls = ["a", "b"].map((method) => ({ method, params: [] }));
  assert.deepEqual(JSON.parse(formatCalls(calls, 7)), [
    { jsonrpc: "2.0", id: 7, method: "a", params: [] },
    { jsonrpc: "2.0", id: 8, method: "b", params: [] },
  ]);
  const replies = [
    { id: 8, result: null },
    { id: 7, error: { code: -1, message: "no", data: {} } },
  ];
  assert.deepEqual(parseReplies(replies, batch), [
    { kind: "error", error: new ProviderError(-1, "no") },
    { kind: "result", value: null },
  ]);
});

test("a single call is not sent as a batch, and its reply can come with or without a list", () => {
  const call = { method: "a", params: [] };
  assert.deepEqual(JSON.parse(formatCalls([call], 7)), { jsonrpc: "2.0", id: 7, ...call });
  const requested = { firstId: 7, count: 1 };
  for (const value of [{ id: 7, result: 1 }, [{ id: 7, result: 1 }]]) {
    assert.deepEqual(parseReplies(value, requested), [{ kind: "result", value: 1 }]);
  }
  const error = { id: null, error: { code: 429, message: "slow" } };
  assert.deepEqual(parseReplies(error, requested), [
    { kind: "error", error: new ProviderError(429, "slow") },
  ]);
  assert.throws(() => parseReplies({ id: 8, result: 1 }, requested), EndpointError);
});

test("replies can have their ids as text", () => {
  const replies = [
    { id: "8", result: "b" },
    { id: "7", result: "a" },
  ];
  assert.deepEqual(parseReplies(replies, batch), [
    { kind: "result", value: "a" },
    { kind: "result", value: "b" },
  ]);
});

test("an error can be a plain string, and its details can be in its data", () => {
  const getMessage = (error: unknown) => {
    const reply = parseSingleReply({ error });
    return reply?.kind === "error" ? reply.error.message.replace(/^error 0: /, "") : null;
  };
  assert.equal(getMessage("no batches"), "no batches");
  assert.equal(
    getMessage({ message: "invalid", data: "at most 5 blocks" }),
    "invalid: at most 5 blocks",
  );
  assert.equal(getMessage({ message: "invalid", data: { limit: 5 } }), 'invalid: {"limit":5}');
  assert.equal(getMessage({ message: "reverted", data: "0x08c379a0" }), "reverted");
  assert.equal(getMessage({ data: null }), "");
  assert.equal(getMessage({ message: "x".repeat(1_000) })?.length, 300);
});

test("a single error in reply to a batch is distinguished from a list of replies", () => {
  const error = { id: null, error: { code: -32600, message: "no batches" } };
  const expected = { kind: "error", error: new ProviderError(-32600, "no batches") };
  assert.deepEqual(parseSingleReply(error), expected);
  assert.deepEqual(parseSingleReply([error]), expected);
  assert.equal(parseSingleReply([{ id: 7, result: 1 }]), null);
  const strange = { error: { code: "x", message: { toString: 1 } } };
  assert.deepEqual(parseSingleReply(strange), {
    kind: "error",
    error: new ProviderError(0, ""),
  });
});

test("the result of a reply is its value, or the error that it has", () => {
  assert.equal(getResult({ kind: "result", value: 7 }), 7);
  const error = new ProviderError(1, "no");
  assert.throws(() => getResult({ kind: "error", error }), error);
  assert.throws(() => getResult(undefined), EndpointError);
});

test("missing, repeated and invalid replies are malformed", () => {
  const fine = { id: 7, result: 1 };
  for (const value of [
    [],
    [fine],
    [fine, fine],
    [fine, { id: 9, result: 1 }],
    [fine, { id: "0x8", result: 1 }],
    [fine, { id: 8 }],
    [fine, null],
    fine,
    null,
    "text",
  ]) {
    assert.throws(() => parseReplies(value, batch), EndpointError, JSON.stringify(value));
  }
});

test("R14: any reply yields a value or an EndpointError", () => {
  const reply = fc.record({ id: fc.oneof(fc.constantFrom(7, 8), fc.anything()) });
  const anything = fc.oneof(fc.anything(), fc.array(reply), fc.array(fc.anything()));
  fc.assert(
    fc.property(anything, (value) => {
      const parsers = [
        () => parseReplies(value, batch),
        () => parseReplies(value, { firstId: 7, count: 1 }),
        () => parseSingleReply(value),
        () => parseHeader(value),
      ];
      for (const parse of parsers) {
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

test("a header is parsed; null means that the block does not exist yet", () => {
  const hash = `0x${"AB".repeat(32)}`;
  const logsBloom = `0xF${"0".repeat(511)}`;
  const json = { number: "0xa", hash, parentHash: hash, timestamp: "0x64", logsBloom };
  const lower = hash.toLowerCase();
  const rest = { parentHash: lower, timestamp: 100, logsBloom: 15n << 2044n };
  const header = { number: 10, hash: lower, ...rest };
  assert.deepEqual(parseHeader({ ...json, transactions: [] }), header);
  assert.equal(parseHeader(null), null);
  for (const field of Object.keys(json)) {
    assert.throws(() => parseHeader({ ...json, [field]: null }), EndpointError, field);
  }
});

test("R14: an error with deeply nested data is an error of the call", () => {
  const data: unknown = JSON.parse(`{"deep":${"[".repeat(100_000)}${"]".repeat(100_000)}}`);
  const answer = { id: 1, error: { code: -32000, message: "no", data } };
  const [reply] = parseReplies(answer, { firstId: 1, count: 1 });
  assert(reply?.kind === "error");
  assert.equal(reply.error.message, "error -32000: no");
});
