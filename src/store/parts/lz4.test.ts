import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "fast-check";
import { propertySettings } from "../../../test/support/property-settings.ts";
import { unpackLz4 } from "./lz4.ts";

function unpack(packed: readonly number[], length: number): string {
  const target = Buffer.alloc(length);
  unpackLz4(Uint8Array.from(packed), target);
  return target.toString();
}

const codes = (text: string): number[] => [...Buffer.from(text)];
const unreadable = { name: "PartUnreadableError" } as const;

suite("a block of LZ4", () => {
  test("of literals alone", () => {
    assert.equal(unpack([0x50, ...codes("hello")], 5), "hello");
    const long = "x".repeat(15 + 255 + 7);
    assert.equal(unpack([0xf0, 255, 7, ...codes(long)], long.length), long);
  });

  test("with matches, near and far, short and long", () => {
    assert.equal(unpack([0x30, ...codes("abc"), 3, 0, 0x10, ...codes("!")], 8), "abcabca!");
    // One that repeats what it makes itself.
    assert.equal(unpack([0x1f, ...codes("z"), 1, 0, 255, 1, 0x00], 276), "z".repeat(276));
    const far = "0123456789".repeat(3);
    const packed = [0xf0, 15, ...codes(far), 30, 0, 0x00];
    assert.equal(unpack(packed, 34), `${far}0123`);
    const doubled = [0xff, 15, ...codes(far), 30, 0, 100, 0x00];
    assert.equal(unpack(doubled, 30 + 119), far.repeat(5).slice(0, 149));
  });

  test("of which only the beginning is wanted", () => {
    const packed = [0x3f, ...codes("abc"), 3, 0, 200, 0x30, ...codes("end")];
    for (const length of [0, 1, 3, 4, 50, 222]) {
      assert.equal(unpack(packed, length), "abc".repeat(100).slice(0, length));
    }
  });

  test("that is cut short, or refers to what is not there, is refused", () => {
    assert.throws(() => unpack([0x50, ...codes("hel")], 5), unreadable);
    assert.throws(() => unpack([0x30, ...codes("abc")], 5), unreadable);
    assert.throws(() => unpack([0x30, ...codes("abc"), 4, 0, 0x00], 7), unreadable);
    assert.throws(() => unpack([0x30, ...codes("abc"), 0, 0, 0x00], 7), unreadable);
    assert.throws(() => unpack([0xf0, 255, 255, 255], 5000), unreadable);
    assert.throws(() => unpack([], 1), unreadable);
  });

  test("of any bytes fills what is asked for, or is refused", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(600), (packed, length) => {
        try {
          unpackLz4(packed, Buffer.alloc(length));
        } catch (thrown) {
          assert.equal((thrown as Error).name, unreadable.name);
        }
      }),
      propertySettings(3000),
    );
  });
});
