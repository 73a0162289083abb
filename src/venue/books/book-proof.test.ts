import assert from "node:assert/strict";
import { test } from "node:test";
import { readFixture } from "../../../test/support/read-fixture.ts";
import { VenueBook } from "../../../test/support/venue-book.ts";
import { checksumBook, getBookKind, hashBook } from "./book-proof.ts";
import { BookSide } from "./book-side.ts";
import { parseSnapshot } from "./parse-book.ts";

const example = {
  market: "0x01",
  asset_id: "1",
  timestamp: "1790000000000",
  bids: [
    { price: "0.4", size: "10.5" },
    { price: "0.45", size: "20" },
  ],
  asks: [
    { price: "0.99", size: "100" },
    { price: "0.46", size: "3" },
  ],
};

/** Parses a book in the venue's format and builds its sides. */
function read(value: unknown) {
  const snapshot = parseSnapshot(value);
  assert(snapshot !== null);
  const sides = { bids: new BookSide("bid"), asks: new BookSide("ask") };
  sides.bids.replace(snapshot.bids);
  sides.asks.replace(snapshot.asks);
  return { ...snapshot, ...sides };
}

test("the hash equals the one of the venue's own client", () => {
  const book = read({
    market: "0xaabbcc",
    asset_id: "100",
    timestamp: "1234567890",
    hash: "",
    bids: [
      { price: "0.3", size: "100" },
      { price: "0.4", size: "100" },
    ],
    asks: [
      { price: "0.6", size: "100" },
      { price: "0.7", size: "100" },
    ],
    min_order_size: "100",
    tick_size: "0.01",
    neg_risk: false,
    last_trade_price: "0.5",
  });
  // A case from the tests of the venue's client. Its timestamp has one digit less than the parser accepts.
  const reported = { ...book, timestampMs: 123_456_789, facts: book.facts };
  // The venue lists asks worst first; this case lists them best first.
  const asks = new BookSide("bid");
  asks.replace(book.asks.worstFirst());
  assert.equal(
    hashBook({ bids: book.bids, asks }, reported),
    "0458ea5755c9f73d64a14636fa5c36ed460ec394",
  );
});

test("an empty last price of a recorded book is part of its hash", () => {
  const [recorded] = readFixture("cases/book-that-never-traded.json.gz") as { hash: string }[];
  const book = read(recorded);
  assert.equal(hashBook(book, book), recorded?.hash);
});

test("the hash of a book of any kind equals the venue's", () => {
  const gen3 = String(BigInt(`0x01${"ab".repeat(15)}${"0".repeat(32)}`));
  const kinds = ["4711", gen3].flatMap((assetId) =>
    ["", "0.5"].map((lastTradePrice) => {
      const venue = new VenueBook({ assetId, market: "0x01", timestampMs: 1_790_000_000_000 });
      venue.set("BUY", "0.4", "10.5");
      venue.lastTradePrice = lastTradePrice;
      const { summary } = venue;
      const book = read(summary);
      assert.equal(hashBook(book, book), summary.hash);
      assert.notEqual(hashBook(read({ ...summary, bids: [] }), book), summary.hash);
      return getBookKind(book.facts);
    }),
  );
  assert.deepEqual(kinds, ["v1_untraded", "v1", "v2_untraded", "v2"]);
  assert.equal(
    getBookKind({ ...read(example).facts, version: "v7", lastTradePrice: "1" }),
    "other",
  );
});

test("the checksum covers the ten best levels of the asks, then those of the bids", () => {
  // The example of docs/order-books.md.
  assert.equal(checksumBook(read(example)), 3_201_457_651);
  const many = (from: number) =>
    Array.from({ length: 12 }, (_, index) => ({ price: `0.${from + index}`, size: "1" }));
  const [deep, deeper] = [many(20), many(20)];
  const book = (bids: unknown) => read({ ...example, bids, asks: many(60) });
  deeper[0] = { price: "0.2", size: "7" };
  assert.equal(checksumBook(book(deep)), checksumBook(book(deeper)));
  deeper[11] = { price: "0.31", size: "7" };
  assert.notEqual(checksumBook(book(deep)), checksumBook(book(deeper)));
  assert.equal(checksumBook(read({ ...example, bids: [], asks: [] })), 0);
});

test("a book with a time that has no RFC 3339 form is refused", () => {
  const book = { market: "0x01", asset_id: "1", bids: [], asks: [] };
  assert.equal(
    parseSnapshot({ ...book, timestamp: "9999999999999" })?.timestampMs,
    9_999_999_999_999,
  );
  assert.equal(parseSnapshot({ ...book, timestamp: "999999999999999" }), null);
});
