import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { generateKey, parseKey, scopes } from "./key-format.ts";

test("a generated key has the documented shape and parses to its scope", () => {
  fc.assert(
    fc.property(fc.constantFrom(...scopes), (scope) => {
      const key = generateKey(scope);
      assert.match(key, new RegExp(`^ow_${scope}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$`));
      assert.deepEqual(parseKey(key), { scope, prefix: key.slice(0, `ow_${scope}_`.length + 4) });
    }),
  );
});

test("no two generated keys are the same", () => {
  const keys = Array.from({ length: 1000 }, () => generateKey("read"));
  assert.equal(new Set(keys).size, keys.length);
});

test("the checksum is the CRC-32 of the text before it", () => {
  // 1415843117 is 1XojTJ in base62; both were computed independently of this code.
  const body = `ow_read_${"0".repeat(43)}`;
  assert.deepEqual(parseKey(`${body}_1XojTJ`), { scope: "read", prefix: "ow_read_0000" });
  assert.equal(parseKey(`${body}_000000`), null);
});

test("a key with any one character changed is refused", () => {
  fc.assert(
    fc.property(fc.constantFrom(...scopes), fc.nat(), (scope, position) => {
      const key = generateKey(scope);
      const at = position % key.length;
      const changed = key.slice(0, at) + (key[at] === "a" ? "b" : "a") + key.slice(at + 1);
      assert.equal(parseKey(changed), null);
    }),
  );
});

test("text that is not a key is refused", () => {
  fc.assert(fc.property(fc.string(), (text) => assert.equal(parseKey(text), null)));
  const key = generateKey("read");
  for (const text of [`${key}\n`, ` ${key}`, key.slice(1), `${key}0`, key.toUpperCase()])
    assert.equal(parseKey(text), null);
});
