import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { TokenTexts } from "./token-texts.ts";

function toView(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

describe("texts of token ids", () => {
  it("are the hex digits of the bytes, also when ids share a slot", () => {
    const texts = new TokenTexts(4);
    const ids = Array.from({ length: 64 }, () => randomBytes(32));
    for (let turn = 0; turn < 500; turn += 1) {
      const id = ids[(turn * 7) % ids.length] ?? Buffer.alloc(32);
      assert.equal(texts.at(toView(id), 0), `0x${id.toString("hex")}`);
    }
  });

  it("are distinguished by every byte", () => {
    const texts = new TokenTexts(1);
    const id = Buffer.alloc(32);
    for (let byte = 0; byte < 32; byte += 1) {
      id[byte] = 1;
      assert.equal(texts.at(toView(id), 0), `0x${id.toString("hex")}`);
      id[byte] = 0;
    }
  });
});
