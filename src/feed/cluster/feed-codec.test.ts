import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { FeedCodec } from "./feed-codec.ts";

const secret = Buffer.alloc(32, 1);
const position = { epoch: "e", term: 2, index: 3 };

/** Returns a message with our secret, as a process of some format version writes it. */
function writtenBy(version: number): Buffer {
  const json = Buffer.from(JSON.stringify({ version, message: { kind: "revert", safeBlock: 7 } }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  const packed = zstdCompressSync(Buffer.concat([length, json]));
  const code = createHmac("sha256", secret).update("e 2-3 ").update(packed).digest();
  return Buffer.concat([code, packed]);
}

test("a message of this format version is read, one of another version is null", () => {
  const codec = new FeedCodec(secret);
  assert.deepEqual(codec.decode(writtenBy(2), position), { kind: "revert", safeBlock: 7 });
  assert.equal(codec.decode(writtenBy(1), position), null);
});
