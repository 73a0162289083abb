import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { FeedCodec } from "./feed-codec.ts";

const secret = Buffer.alloc(32, 1);
const position = { epoch: "e", term: 2, index: 3 };

/** Returns a message with our secret, as a process of some format version writes it. */
function writtenBy(version: number): Buffer {
  return signed(JSON.stringify({ version, message: { kind: "revert", safeBlock: 7 } }));
}

function signed(text: string | Buffer): Buffer {
  const packed = zstdCompressSync(text);
  const code = createHmac("sha256", secret).update("e 2-3 ").update(packed).digest();
  return Buffer.concat([code, packed]);
}

test("a message of this format version is read, one of another version is null", () => {
  const codec = new FeedCodec(secret);
  assert.deepEqual(codec.decode(writtenBy(6), position), { kind: "revert", safeBlock: 7 });
  assert.equal(codec.decode(writtenBy(5), position), null);
  // Versions 1 and 2 began with the length of the JSON.
  const length = Buffer.from([9, 0, 0, 0]);
  const earlier = Buffer.concat([length, Buffer.from('{"version":2}')]);
  assert.equal(codec.decode(signed(earlier), position), null);
});
