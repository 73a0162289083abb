/**
 * Order books on one core: many live books, each with some changes a second, with every hash the
 * service would compute; and what all of them take of memory. Processor time, as other jobs may be
 * on the machine. Arguments: books (default 5000), seconds of the venue's time (3).
 */
import assert from "node:assert/strict";
import { availableParallelism, cpus } from "node:os";
import { LiveBook } from "../src/venue/books/live-book.ts";
import { parseBookMessage, parseSnapshot } from "../src/venue/books/parse-book.ts";
import { HashTrust } from "../src/venue/hash-trust.ts";
import { VenueBook } from "../test/support/venue-book.ts";

const count = Number(process.argv[2] ?? 5000);
const seconds = Number(process.argv[3] ?? 3);
/** Of one book; with 5,000 of them 20,000 a second. */
const changesPerSecond = 4;
/** Of each side; the books of the venue that are traded have some dozens. */
const levels = 40;

const { model = "unknown" } = cpus()[0] ?? {};
console.log(`${model}, ${availableParallelism()} cores, node ${process.version}`);

const rssBefore = process.memoryUsage().rss;
const trust = new HashTrust();
const books = Array.from({ length: count }, (_, index) => openBook(String(index)));
const mebibytes = (process.memoryUsage().rss - rssBefore) / 2 ** 20;

const reported = books.map(({ assetId }) => messagesOf(fillBook(assetId)));
let changes = 0;
const ours = cpuSecondsOf(() => {
  for (let second = 0; second < seconds; second += 1) {
    for (const [index, book] of books.entries()) {
      const from = second * changesPerSecond;
      const texts = reported[index]?.slice(from, from + changesPerSecond) ?? [];
      for (const text of texts) changes += takeIn(book, text, second);
    }
    // As every book is looked over once a second, which hashes those that have changed.
    for (const book of books) book.staleReason(second);
  }
});
const bare = cpuSecondsOf(() => {
  for (const messages of reported) for (const text of messages) JSON.parse(text);
});
for (const book of books) assert.equal(book.staleReason(seconds), null);
assert.equal(trust.proven, count * seconds);

console.log(`${format(count)} books of ${2 * levels} levels: ${mebibytes.toFixed(0)} MiB`);
console.log(
  `${format(changes / ours)} changes/s a core with all hashes, JSON.parse alone ` +
    `${format(changes / bare)}; 20,000 a second take ${((ours / changes) * 2e6).toFixed(0)} % of a core`,
);

/** How many changes of this book a message held. */
function takeIn(book: LiveBook, text: string, nowMs: number): number {
  let taken = 0;
  for (const event of parseBookMessage(text)) {
    if (event.kind !== "changes" || event.assetId !== book.assetId) continue;
    book.takeChanges(event.changes, nowMs);
    taken += event.changes.changes.length;
  }
  return taken;
}

function openBook(assetId: string): LiveBook {
  const book = new LiveBook({ assetId, trust, onFault: () => {} });
  const snapshot = parseSnapshot(fillBook(assetId).summary);
  assert(snapshot !== null);
  book.takeSnapshot(snapshot, 0);
  book.beginFetch();
  book.takeAnswer(snapshot, 0);
  return book;
}

function fillBook(assetId: string): VenueBook {
  const book = new VenueBook({ assetId, market: "0x01", timestampMs: 1_790_000_000_000 });
  for (let level = 1; level <= levels; level += 1) {
    book.set("BUY", String(level / 100), String(level * 7.5));
    book.set("SELL", String((level + 50) / 100), String(level * 11.25));
  }
  return book;
}

/** Messages as the venue sends them: one change of this book, and one of its complement. */
function messagesOf(book: VenueBook): string[] {
  return Array.from({ length: changesPerSecond * seconds }, (_, round) => {
    const price = String((1 + (round % levels)) / 100);
    const size = String(1000 + round);
    book.set("BUY", price, size);
    book.timestampMs += 10;
    const best = { best_bid: book.bestBid, best_ask: book.bestAsk };
    const { hash } = book.summary;
    const entry = { asset_id: book.assetId, price, size, side: "BUY", hash, ...best };
    const price_changes = [entry, { ...entry, asset_id: `9${book.assetId}`, side: "SELL" }];
    const timestamp = String(book.timestampMs);
    return JSON.stringify({ market: "0x01", price_changes, timestamp, event_type: "price_change" });
  });
}

function cpuSecondsOf(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

function format(value: number): string {
  return Math.round(value).toLocaleString("en");
}
