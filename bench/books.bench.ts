/**
 * Order books on one core: many live books with several changes per second, and every hash that the service would
 * compute. Measures processor time, because other jobs may run on the machine, and memory. Arguments: books (default
 * 5000), seconds of the venue's time (default 3).
 */
import assert from "node:assert/strict";
import { availableParallelism, cpus } from "node:os";
import { LiveBook } from "../src/venue/books/live-book.ts";
import { parseBookMessage, parseSnapshot } from "../src/venue/books/parse-book.ts";
import { HashTrust } from "../src/venue/hash-trust.ts";
import { VenueBook } from "../test/support/venue-book.ts";

const count = Number(process.argv[2] ?? 5000);
const seconds = Number(process.argv[3] ?? 3);
/** Changes of one book. 5,000 books have 20,000 per second. */
const changesPerSecond = 4;
/** Levels on each side. Traded books of the venue have some dozens. */
const levels = 40;

const { model = "unknown" } = cpus()[0] ?? {};
console.log(`${model}, ${availableParallelism()} cores, node ${process.version}`);

const rssBefore = process.memoryUsage().rss;
const trust = new HashTrust();
const books = Array.from({ length: count }, (_, index) => openBook(String(index)));
const mebibytes = (process.memoryUsage().rss - rssBefore) / 2 ** 20;

const reported = books.map(({ assetId }) => getMessages(fillBook(assetId)));
let changes = 0;
const ours = getCpuSeconds(() => {
  for (let second = 0; second < seconds; second += 1) {
    for (const [index, book] of books.entries()) {
      const from = second * changesPerSecond;
      const texts = reported[index]?.slice(from, from + changesPerSecond) ?? [];
      for (const text of texts) changes += takeIn(book, text, second);
    }
    // The service also checks every book once a second, and hashes the books that have changed.
    for (const book of books) book.staleReason(second);
  }
});
const bare = getCpuSeconds(() => {
  for (const messages of reported) for (const text of messages) JSON.parse(text);
});
for (const book of books) assert.equal(book.staleReason(seconds), null);
assert.equal(trust.metrics.hashes_proven["v1"], count * seconds);

console.log(`${format(count)} books of ${2 * levels} levels: ${mebibytes.toFixed(0)} MiB`);
console.log(
  `${format(changes / ours)} changes/s a core with all hashes, JSON.parse alone ` +
    `${format(changes / bare)}; 20,000 a second take ${((ours / changes) * 2e6).toFixed(0)} % of a core`,
);

/** Applies a message and returns how many changes of this book it contained. */
function takeIn(book: LiveBook, text: string, nowMs: number): number {
  let taken = 0;
  for (const event of parseBookMessage(text)) {
    if (event.kind !== "changes" || event.assetId !== book.assetId) continue;
    book.takeChanges(event, nowMs);
    taken += event.changes.length;
  }
  return taken;
}

function openBook(assetId: string): LiveBook {
  const book = new LiveBook({ assetId, trust, onFault: () => {}, rereadMs: () => 30_000 });
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

/** Messages as the venue sends them: each has one change of this book and one of its complement. */
function getMessages(book: VenueBook): string[] {
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

function getCpuSeconds(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

function format(value: number): string {
  return Math.round(value).toLocaleString("en");
}
