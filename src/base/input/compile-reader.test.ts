import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Type } from "typebox";
import { AppError } from "../errors.ts";
import { amount, tokenId } from "./client-texts.ts";
import { compileReader } from "./compile-reader.ts";

const schema = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
  order: Type.Enum(["desc", "asc"], { default: "desc" }),
  active: Type.Optional(Type.Boolean()),
  min_size: Type.Optional(amount),
  token_ids: Type.Optional(Type.Array(tokenId, { maxItems: 3 })),
  search: Type.Optional(Type.String({ minLength: 1, maxLength: 20 })),
});
const names = Object.keys(schema.properties).join(", ");
const readQuery = compileReader(schema, "query");

function getFaults(read: () => unknown): string[] {
  try {
    read();
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === "VALIDATION_ERROR");
    return error.details.map(({ parameter, issue }) => `${parameter} ${issue}`);
  }
  return [];
}

test("an empty query string yields the defaults", () => {
  assert.deepEqual(readQuery(""), { limit: 100, order: "desc" });
  assert.deepEqual(readQuery("&"), { limit: 100, order: "desc" });
});

test("texts are converted to the types of their schemas", () => {
  const one = `0x${"0".repeat(63)}1`;
  const two = `0x${"0".repeat(63)}2`;
  assert.deepEqual(
    readQuery("limit=7&active=false&min_size=0.5&token_ids=1,2&search=a+b%26%C3%BC"),
    {
      limit: 7,
      order: "desc",
      active: false,
      min_size: 500_000n,
      token_ids: [one, two],
      search: "a b&ü",
    },
  );
});

test("all faults are reported, each in plain words", () => {
  assert.deepEqual(
    getFaults(() => readQuery("limit=0&order=up&active=1&min_size=-1&token_ids=1,,2&search=")),
    [
      'limit must be a whole number from 1 to 1000; got "0"',
      'order must be one of desc, asc; got "up"',
      'active must be true or false; got "1"',
      'min_size must be a decimal of at least 0, such as 12.5, with at most 32 digits before the point and 6 after it; got "-1"',
      'token_ids must be a list of up to 3, each a decimal token id below 2^256; got "1,,2"',
      'search must be text of 1 to 20 characters; got ""',
    ],
  );
  assert.deepEqual(getFaults(() => readQuery("token_ids=1,2,3,4")).length, 1);
});

test("unknown and repeated names are reported, with the name that was probably meant", () => {
  assert.deepEqual(
    getFaults(() => readQuery("oder=asc&Limit=5&__proto__=x&constructor=1")),
    [
      `oder is not known here; did you mean order? Valid names: ${names}`,
      `Limit is not known here; did you mean limit? Valid names: ${names}`,
      `__proto__ is not known here; valid names: ${names}`,
      `constructor is not known here; valid names: ${names}`,
    ],
  );
  assert.deepEqual(
    getFaults(() => readQuery("limit=5&limit=5")),
    ["limit is given more than once"],
  );
  assert.deepEqual(
    getFaults(() => readQuery("limit[]=5")),
    [`limit[] is not known here; did you mean limit? Valid names: ${names}`],
  );
});

test("the report of many faults, or of long names, stays small", () => {
  const many = Array.from({ length: 5000 }, (_, index) => `x${index}=1`).join("&");
  assert.equal(getFaults(() => readQuery(many)).length, 20);
  assert.ok((getFaults(() => readQuery("x".repeat(10_000)))[0] ?? "").length < 200);
});

test("whole numbers are parsed from plain decimal digits only", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1000 }), (limit) => {
      assert.equal(readQuery(`limit=${limit}`)["limit"], limit);
    }),
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      const isPlain = /^[1-9][0-9]{0,3}$/.test(text) && Number(text) <= 1000;
      const faults = getFaults(() => readQuery(`limit=${encodeURIComponent(text)}`));
      assert.equal(faults.length === 0, isPlain);
    }),
  );
});

test("any input yields values or VALIDATION_ERROR", () => {
  const readBody = compileReader(schema, "body");
  fc.assert(fc.property(fc.string(), (text) => void getFaults(() => readQuery(text))));
  fc.assert(fc.property(fc.jsonValue(), (body) => void getFaults(() => readBody(body))));
});

test("a body has JSON types: text is not a number, and null is an absent value", () => {
  const readBody = compileReader(schema, "body");
  assert.deepEqual(readBody(null), { limit: 100, order: "desc" });
  assert.deepEqual(readBody({ limit: 5, active: true, min_size: null, token_ids: ["1"] }), {
    limit: 5,
    order: "desc",
    active: true,
    token_ids: [`0x${"0".repeat(63)}1`],
  });
  assert.equal(getFaults(() => readBody({ limit: "5", active: "true", token_ids: [1] })).length, 3);
  assert.deepEqual(
    getFaults(() => readBody({ token_ids: "1" })),
    [
      'token_ids must be a list of up to 3, each a decimal token id below 2^256; got "1"; put it into a list',
    ],
  );
  assert.deepEqual(
    getFaults(() => readBody([])),
    ["body must be a JSON object"],
  );
});

test("a missing required parameter is reported with its description", () => {
  const read = compileReader(Type.Object({ token_ids: Type.Array(tokenId) }), "query");
  assert.deepEqual(
    getFaults(() => read("")),
    ["token_ids is required: a list of up to 100, each a decimal token id below 2^256"],
  );
});
