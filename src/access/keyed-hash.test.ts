import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import * as fc from "fast-check";
import { KeyedHash } from "./keyed-hash.ts";

test("the MAC equals createHmac's HMAC-SHA-256, also after other texts were hashed", () => {
  const text = fc.string({ unit: "grapheme-ascii", maxLength: 100 });
  const secret = fc.string({ minLength: 1, maxLength: 150, unit: "grapheme" });
  fc.assert(
    fc.property(secret, fc.array(text), (pepper, texts) => {
      const keyed = new KeyedHash(pepper, 100);
      for (const one of texts) {
        const expected = createHmac("sha256", pepper).update(one).digest("hex");
        assert.equal(keyed.hmac(one), expected);
      }
    }),
  );
});
