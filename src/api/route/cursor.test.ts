import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { AppError } from "../../base/errors.ts";
import { Cursors } from "./cursor.ts";

const cursors = new Cursors(Buffer.alloc(32, 1), () => 5);
const query = { side: "BUY", min_size: 5_000_000n, limit: 10 };
const position = fc.array(fc.oneof(fc.string(), fc.maxSafeInteger()), { maxLength: 3 });

function isRefused(decode: () => unknown): void {
  assert.throws(decode, (error) => error instanceof AppError && error.code === "INVALID_CURSOR");
}

test("a cursor decodes to its position, also with another limit or order of parameters", () => {
  fc.assert(
    fc.property(position, (place) => {
      const text = cursors.encode("/v1/trades", query, place);
      assert.match(text, /^[A-Za-z0-9_-]+$/);
      const reordered = { cursor: text, limit: 99, min_size: 5_000_000n, side: "BUY" };
      assert.deepEqual(cursors.decode("/v1/trades", reordered), place);
    }),
  );
});

test("a cursor is refused with other filters, on another list or under another secret", () => {
  const cursor = cursors.encode("/v1/trades", query, [7]);
  const next = { ...query, cursor };
  isRefused(() => cursors.decode("/v1/fills", next));
  isRefused(() => cursors.decode("/v1/trades", { ...next, side: "SELL" }));
  isRefused(() => cursors.decode("/v1/trades", { ...next, min_size: 1n }));
  isRefused(() => cursors.decode("/v1/trades", { side: "BUY", cursor }));
  isRefused(() => cursors.decode("/v1/trades", { ...next, maker: "0x" }));
  isRefused(() => new Cursors(Buffer.alloc(32, 2), () => 5).decode("/v1/trades", next));
});

test("a cursor survives a restart with the same secret", () => {
  const next = { ...query, cursor: cursors.encode("/v1/trades", query, [7]) };
  assert.deepEqual(new Cursors(Buffer.alloc(32, 1), () => 5).decode("/v1/trades", next), [7]);
  assert.equal(cursors.decode("/v1/trades", { ...query, cursor: undefined }), null);
});

test("a changed cursor and any other text are refused", () => {
  fc.assert(
    fc.property(
      position,
      fc.nat(),
      fc.constantFrom("A", "B", "_", "=", " ", ""),
      (place, at, put) => {
        const text = cursors.encode("/v1/trades", query, place);
        const index = at % text.length;
        const changed = text.slice(0, index) + put + text.slice(index + 1);
        fc.pre(changed !== text);
        isRefused(() => cursors.decode("/v1/trades", { ...query, cursor: changed }));
      },
    ),
  );
  fc.assert(fc.property(fc.string(), (cursor) => isRefused(() => cursors.decode("/", { cursor }))));
});
