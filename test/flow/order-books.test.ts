/** Order books over real sockets, from a scripted venue with the faults of a real one. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { pino } from "pino";
import { formatSafeMicros } from "../../src/base/decimal.ts";
import { parseTokenId, type TokenId } from "../../src/base/ids.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import type { BookListener, LiveBook } from "../../src/venue/books/live-book.ts";
import { OrderBooks } from "../../src/venue/books/order-books.ts";
import { cleanUp } from "../support/clean-up.ts";
import { ScriptedVenue } from "../support/scripted-venue.ts";
import type { VenueBook } from "../support/venue-book.ts";
import { waitFor } from "../support/wait-for.ts";

const yes = "71321045679252212594626385532706912750332728571942532289631379312455583992563";
const no = "52114319501245915516055106046884209969926127482827954674443846427813813222426";

async function openBooks(t: TestContext) {
  let nowMs = 1_790_000_000_000;
  const venue = await ScriptedVenue.open({ nowMs: () => (nowMs += 3) });
  for (const [assetId, bid, ask] of [
    [yes, "0.48", "0.52"],
    [no, "0.47", "0.53"],
  ] as const) {
    venue.book(assetId).set("BUY", bid, "30");
    venue.book(assetId).set("BUY", "0.1", "1000.25");
    venue.book(assetId).set("SELL", ask, "25");
    venue.book(assetId).lastTradePrice = "0.5";
  }
  const clock = { offsetMs: 0, ...systemClock };
  clock.monotonicMs = () => systemClock.monotonicMs() + clock.offsetMs;
  const { restUrl, wsUrl } = venue;
  const log = pino({ level: "silent" });
  const books = OrderBooks.open({ restUrl, wsUrl, clock, log, random: () => 0 });
  cleanUp(t, async () => {
    books.close();
    await venue.close();
  });
  const read = async (assetId = yes): Promise<LiveBook> => {
    const book = await books.read(getToken(assetId));
    assert(typeof book === "object");
    return book;
  };
  const getReason = (book: LiveBook) => book.staleReason(clock.monotonicMs());
  const settles = (book: LiveBook, reason: string | null) =>
    waitFor(`the book to be ${reason ?? "right"}`, async () =>
      getReason(book) === reason ? true : null,
    );
  const equals = (book: LiveBook) =>
    waitFor("the venue's book", async () =>
      getReason(book) === null && toText(book) === venueText(venue.book(book.assetId))
        ? true
        : null,
    );
  return { venue, books, clock, read, getReason, settles, equals };
}

function getToken(assetId: string): TokenId {
  const tokenId = parseTokenId(assetId);
  assert(tokenId !== null);
  return tokenId;
}

function toText({ bids, asks }: LiveBook): string {
  const sides = [bids, asks].map((side) =>
    side
      .worstFirst()
      .map(({ price, size }) => `${formatSafeMicros(price)}x${formatSafeMicros(size)}`)
      .join(),
  );
  return sides.join(" | ");
}

function venueText(book: VenueBook): string {
  const sides = (["BUY", "SELL"] as const).map((side) =>
    book
      .levels(side)
      .map(({ price, size }) => `${price}x${size}`)
      .join(),
  );
  return sides.join(" | ");
}

test("a book is available after the first request, and follows the stream", async (t) => {
  const { venue, books, read, getReason, equals } = await openBooks(t);
  const book = await read();
  assert.equal(getReason(book), null);
  assert.equal(toText(book), "0.1x1000.25,0.48x30 | 0.52x25");
  assert.equal(book.hash, venue.book(yes).summary.hash);
  venue.change([
    { assetId: yes, side: "BUY", price: "0.49", size: "7.5" },
    { assetId: no, side: "SELL", price: "0.51", size: "7.5" },
  ]);
  venue.change([{ assetId: yes, side: "BUY", price: "0.48", size: "0" }]);
  await equals(book);
  assert.equal(toText(book), "0.1x1000.25,0.49x7.5 | 0.52x25");
  venue.book(yes).set("SELL", "0.52", "3");
  venue.book(yes).timestampMs += 1_000;
  venue.sendBook(yes);
  await equals(book);
  venue.trade(yes, "0.49");
  venue.changeTick(yes, "0.001");
  await waitFor("both facts", async () =>
    book.facts?.tickSize === "0.001" && book.facts.lastTradePrice === "0.49" ? true : null,
  );
  assert.deepEqual(books.metrics.resyncs, {});
  assert.deepEqual(books.metrics.hash_check_enabled, { v1: 1 });
  assert.ok((books.metrics.hashes_proven["v1"] ?? 0) >= 2);
});

test("an order book has all fields when it is first read, although the stream omits some", async (t) => {
  const { venue, read } = await openBooks(t);
  await read(yes);
  for (let number = 1; number <= 50; number += 1) {
    venue.book(String(number)).set("BUY", "0.4", "10");
    assert.equal((await read(String(number))).facts?.minOrderSize, "5");
  }
});

test("a lost change is noticed by the hash, and the book is fetched again", async (t) => {
  const { venue, books, read, getReason, equals } = await openBooks(t);
  const book = await read();
  venue.messageFault = () => [];
  venue.change([{ assetId: yes, side: "BUY", price: "0.2", size: "1" }]);
  venue.messageFault = null;
  venue.change([{ assetId: yes, side: "BUY", price: "0.3", size: "1" }]);
  await waitFor("the mismatch", async () => (getReason(book) === "hash_mismatch" ? true : null));
  await equals(book);
  assert.deepEqual(books.metrics.resyncs, { hash_mismatch: 1 });
});

test("a book with different best prices, or a crossed book, is fetched again", async (t) => {
  const { venue, books, read, equals, settles } = await openBooks(t);
  const book = await read();
  venue.messageFault = (text) => [text.replace('"best_bid":"0.48"', '"best_bid":"0.49"')];
  venue.change([{ assetId: yes, side: "BUY", price: "0.2", size: "1" }]);
  venue.messageFault = null;
  await waitFor("the mismatch", async () =>
    books.metrics.resyncs["best_price_mismatch"] === 1 ||
    books.metrics.hashes_proven["v1"] !== undefined
      ? true
      : null,
  );
  await equals(book);
  venue.change([{ assetId: yes, side: "SELL", price: "0.45", size: "1" }]);
  await settles(book, "crossed");
  venue.change([{ assetId: yes, side: "SELL", price: "0.45", size: "0" }]);
  await equals(book);
  // The book is also crossed at the venue until the next change. A slow machine can fetch it again in that time.
  assert.ok((books.metrics.resyncs["crossed"] ?? 0) >= 1);
});

test("messages out of order and unreadable messages do no harm", async (t) => {
  const { venue, books, read, equals } = await openBooks(t);
  const book = await read();
  const inMemory: string[] = [];
  venue.messageFault = (text) => {
    inMemory.push(text);
    return [];
  };
  venue.change([{ assetId: yes, side: "BUY", price: "0.2", size: "1" }]);
  venue.change([{ assetId: yes, side: "BUY", price: "0.2", size: "2" }]);
  venue.messageFault = null;
  for (const text of inMemory.toReversed()) venue.say(text);
  await equals(book);
  venue.say(
    `{"event_type":"price_change","asset_id":"${yes}","timestamp":"1790000000","price_changes":[{"asset_id":"${yes}","price":7,"size":null}]}`,
  );
  await waitFor("the mismatch", async () => books.metrics.resyncs["malformed"] ?? null);
  await equals(book);
});

test("a message that cannot be parsed makes only the books that it names stale", async (t) => {
  const { venue, books, read, getReason, equals } = await openBooks(t);
  const elsewhere = "99";
  venue.book(elsewhere, "0x02").set("BUY", "0.2", "5");
  const all = [await read(yes), await read(no), await read(elsewhere)];
  venue.httpFault = () => ({ status: 429, headers: { "retry-after": "60" }, body: "" });
  /** Sends the message and returns the books that it makes stale, after the venue has sent these books again. */
  const staleAfter = async (text: string): Promise<string[]> => {
    const { unreadable } = books.metrics;
    venue.say(text);
    await waitFor("the message", async () => books.metrics.unreadable > unreadable || null);
    const stale = all.filter((book) => getReason(book) === "malformed");
    for (const { assetId } of stale) venue.sendBook(assetId);
    for (const book of all) await equals(book);
    return stale.map(({ assetId }) => assetId);
  };
  const change = { asset_id: yes, price: "0.3", size: "1", side: "BUY" };
  const message = { event_type: "price_change", market: "0x01", timestamp: "1790000000000" };
  const whole = JSON.stringify({ ...message, price_changes: [change] });
  const cut = whole.slice(0, whole.indexOf('"price"'));
  assert.deepEqual(await staleAfter(whole.replace("1790000000000", "soon")), [yes]);
  assert.deepEqual(await staleAfter(cut), [yes]);
  assert.deepEqual(await staleAfter(whole.replace('"asset_id"', '"asset"')), [yes, no]);
  const strange = ["<html>Bad gateway</html>", "[7]", `"${"x".repeat(1_000_000)}"`, "{}", '{"a'];
  const deep = "[".repeat(10_000) + "]".repeat(10_000);
  const long = `[${"7,".repeat(10_000)}7]`;
  const before = books.metrics.unreadable;
  for (const text of [...strange, deep, long]) assert.deepEqual(await staleAfter(text), []);
  assert.equal(books.metrics.unreadable, before + strange.length + 2);
  assert.equal(books.metrics.connections, 1);
});

test("a lost connection makes books stale until a new connection sends them", async (t) => {
  const { venue, books, read, settles, equals } = await openBooks(t);
  const [first, second] = [await read(yes), await read(no)];
  venue.isSilent = true;
  venue.dropSockets();
  await settles(first, "not_followed");
  await settles(second, "not_followed");
  venue.change([{ assetId: yes, side: "BUY", price: "0.3", size: "1" }]);
  venue.isSilent = false;
  venue.dropSockets();
  await equals(first);
  await equals(second);
  assert.ok(books.metrics.connections >= 2);
  assert.equal(books.metrics.connections_open, 1);
});

test("while the venue is down, cached books are stale, and other books are unavailable", async (t) => {
  const { venue, books, read, settles } = await openBooks(t);
  const book = await read();
  venue.httpFault = () => ({ status: 429, headers: { "retry-after": "60" }, body: "<html>" });
  venue.isSilent = true;
  venue.dropSockets();
  await settles(book, "not_followed");
  assert.equal(await read(), book);
  assert.equal(await books.read(getToken("12")), "unavailable");
  assert.ok((books.metrics.errors["rate_limited"] ?? 0) > 0);
});

test("the book of a token that has none is absent", async (t) => {
  const { books } = await openBooks(t);
  assert.equal(await books.read(getToken("4711")), "absent");
  assert.equal(await books.read(getToken("4711")), "absent");
});

test("a book is released if it is not requested and no client follows it", async (t) => {
  const { venue, books, clock, read } = await openBooks(t);
  await read(yes);
  const stop = books.watch(getToken(no), () => {});
  assert(stop !== null);
  clock.offsetMs += 6 * 60_000;
  await waitFor("one book", async () => (books.metrics.in_memory === 1 ? true : null));
  await waitFor("the subscription to end", async () =>
    venue.subscriptions.flat().join() === no ? true : null,
  );
  stop();
  clock.offsetMs += 6 * 60_000;
  await waitFor("no connection", async () =>
    books.metrics.in_memory === 0 && venue.subscriptions.length === 0 ? true : null,
  );
});

test("a book without changes is fetched again, and is stale if it cannot be confirmed", async (t) => {
  const { venue, clock, read, settles, equals } = await openBooks(t);
  const book = await read();
  venue.messageFault = () => [];
  venue.change([{ assetId: yes, side: "BUY", price: "0.3", size: "1" }]);
  clock.offsetMs += 31_000;
  await equals(book);
  venue.messageFault = null;
  venue.sendBook(yes);
  await waitFor("the book of the stream", async () => book.source === "stream" || null);
  venue.httpFault = () => ({ status: 502, body: "<html>" });
  clock.offsetMs += 61_000;
  await settles(book, "unconfirmed");
});

test("a stream that answers PING but sends no changes makes its books stale, and is replaced", async (t) => {
  const { venue, books, clock, read, getReason, settles, equals } = await openBooks(t);
  const [book, quiet] = [await read(yes), await read(no)];
  venue.isFrozen = true;
  venue.change([{ assetId: yes, side: "BUY", price: "0.49", size: "1" }]);
  clock.offsetMs += 6_000;
  // The new book is right when the response has it, and may be old as soon as the stream does not confirm it.
  await equals(book);
  clock.offsetMs += 4_000;
  assert.equal(getReason(book), "stalled");
  await waitFor("a new connection", async () => books.metrics.connections >= 2 || null);
  assert.equal(books.metrics.resyncs["stalled"], 1);
  await settles(quiet, "not_followed");
  venue.change([{ assetId: yes, side: "BUY", price: "0.49", size: "2" }]);
  clock.offsetMs += 6_000;
  await waitFor("the response", async () => toText(book) === venueText(venue.book(yes)) || null);
  assert.equal(getReason(book), "not_followed", "no message of the stream came");
  venue.isFrozen = false;
  clock.offsetMs += 160_000;
  await equals(book);
  await equals(quiet);
  venue.change([{ assetId: yes, side: "BUY", price: "0.49", size: "3" }]);
  await equals(book);
  assert.equal(books.metrics.connections_open, 1);
});

test("a book that a working connection does not send is subscribed again alone", async (t) => {
  const { venue, books, clock, read, settles, equals } = await openBooks(t);
  const [book, other] = [await read(yes), await read(no)];
  venue.messageFault = (text) => (text.includes(yes) ? [] : [text]);
  venue.change([{ assetId: yes, side: "BUY", price: "0.49", size: "1" }]);
  clock.offsetMs += 6_000;
  await equals(book);
  venue.change([{ assetId: no, side: "BUY", price: "0.2", size: "1" }]);
  await equals(other);
  clock.offsetMs += 4_000;
  await settles(book, "stalled");
  venue.messageFault = null;
  clock.offsetMs += 160_000;
  await equals(book);
  assert.equal(books.metrics.connections, 1);
});

test("a quiet book and a slightly late one are not stale", async (t) => {
  const { venue, books, clock, read, getReason, equals } = await openBooks(t);
  const book = await read();
  const late: string[] = [];
  for (let round = 1; round <= 3; round += 1) {
    venue.messageFault = (text) => {
      late.push(text);
      return [];
    };
    venue.change([{ assetId: yes, side: "BUY", price: "0.3", size: String(round) }]);
    clock.offsetMs += 6_000;
    await equals(book);
    venue.messageFault = null;
    for (const text of late.splice(0)) venue.say(text);
    await waitFor("the late message", async () => books.metrics.changes === round || null);
    const { requests } = books.metrics;
    clock.offsetMs += 20_000;
    await waitFor("a comparison", async () => books.metrics.requests > requests || null);
    assert.equal(getReason(book), null);
  }
  assert.deepEqual([books.metrics.resyncs, books.metrics.connections], [{}, 1]);
});

test("books of generation 3 tokens and of tokens without trades are proven, altered ones never", async (t) => {
  const { venue, books, read, equals, settles } = await openBooks(t);
  const gen3 = String(BigInt(`0x01${"ab".repeat(15)}${"0".repeat(32)}`));
  const fields: object[] = [];
  for (const [assetId, lastTradePrice] of [
    [gen3, "0.5"],
    [String(BigInt(gen3) + 1n), ""],
    [yes, "0.5"],
    [no, ""],
  ] as const) {
    venue.book(assetId).lastTradePrice = lastTradePrice;
    venue.book(assetId).set("BUY", "0.3", "5");
    const book = await read(assetId);
    venue.change([{ assetId, side: "BUY", price: "0.2", size: "1" }]);
    await equals(book);
    fields.push({ version: book.facts?.version, last: book.facts?.lastTradePrice });
  }
  assert.deepEqual(fields, [
    { version: "v2", last: "0.5" },
    { version: "v2", last: "" },
    { version: null, last: "0.5" },
    { version: null, last: "" },
  ]);
  const kinds = { v2: 1, v2_untraded: 1, v1: 1, v1_untraded: 1 };
  await waitFor(
    "all proofs",
    async () => Object.keys(books.metrics.hashes_proven).length === 4 || null,
  );
  assert.deepEqual(
    [books.metrics.hash_check_enabled, books.metrics.hash_false_positives],
    [kinds, {}],
  );
  venue.httpFault = (path) => {
    if (path !== "/books") return null;
    const book = JSON.stringify([venue.book(gen3).summary]);
    return { status: 200, body: book.replace('"size":"5"', '"size":"6"') };
  };
  venue.messageFault = () => [];
  venue.dropSockets();
  await settles(await read(gen3), "not_followed");
  venue.messageFault = (text) => [text.replaceAll('"size":"5"', '"size":"6"')];
  venue.dropSockets();
  await settles(await read(gen3), "hash_mismatch");
});

test("tokens share connections, 500 each, and requests, 100 each", async (t) => {
  const { venue, books } = await openBooks(t);
  const assetIds = Array.from({ length: 620 }, (_, index) => String(1000 + index));
  for (const assetId of assetIds) venue.book(assetId).set("BUY", "0.4", assetId);
  const all = await Promise.all(assetIds.map(async (assetId) => books.read(getToken(assetId))));
  for (const [index, book] of all.entries()) {
    assert(typeof book === "object");
    assert.equal(toText(book), `0.4x${assetIds[index]} | `);
  }
  const sizes = venue.subscriptions.map(({ length }) => length).toSorted((a, b) => a - b);
  assert.deepEqual(sizes, [120, 500]);
  assert.ok(venue.requests.length < 12, String(venue.requests));
});

test("a listener of a book gets changes, replaced levels, and a call when the book is stale", async (t) => {
  const { venue, books, getReason, equals, read } = await openBooks(t);
  const reported: unknown[] = [];
  const listener: BookListener = (book, changes) => {
    reported.push(getReason(book) ?? changes);
  };
  const stop = books.watch(getToken(yes), listener);
  assert(stop !== null);
  const book = await read();
  await equals(book);
  await waitFor("a correct book", async () =>
    reported.some((one) => typeof one !== "string") ? true : null,
  );
  reported.splice(0);
  venue.change([{ assetId: yes, side: "BUY", price: "0.49", size: "7.5" }]);
  const change = [{ side: "bid", price: 490_000, size: 7_500_000 }];
  await waitFor("the change", async () =>
    reported.some((one) => isDeepStrictEqual(one, change)) ? true : null,
  );
  reported.splice(0);
  venue.messageFault = () => [];
  venue.change([{ assetId: yes, side: "BUY", price: "0.2", size: "1" }]);
  venue.messageFault = null;
  venue.change([{ assetId: yes, side: "BUY", price: "0.3", size: "1" }]);
  await waitFor("the mismatch", async () => (reported.includes("hash_mismatch") ? true : null));
  await waitFor("the whole book", async () => (reported.includes(null) ? true : null));
});
