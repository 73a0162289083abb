/** The channel of order books: a copy built from the frames can be verified, and loss is detected. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { crc32 } from "node:zlib";
import { formatTokenId } from "../../src/base/ids.ts";
import { pairPrice } from "../../src/views/prices/token-price.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { StreamClient, type StreamFrame } from "../support/stream-client.ts";
import type { VenueSide } from "../support/venue-book.ts";
import { waitFor } from "../support/wait-for.ts";

const server = await DataServer.open();
after(() => server.close());
const { venue } = server;
const key = server.edge.keys.read;
const tokens = [...new Set(server.fills.map(({ tokenId }) => tokenId))].filter(
  (tokenId) => pairPrice(tokenId, server.state.directory)?.source === "last_trade",
);

function takeToken(): string {
  const tokenId = tokens.pop();
  assert(tokenId !== undefined, "there are open tokens");
  return formatTokenId(tokenId);
}

type Level = { readonly price: string; readonly size: string };
type BookData = Row & { readonly bids: readonly Level[]; readonly asks: readonly Level[] };

/** A client's copy of a book, built from frames as docs/order-books.md describes. */
class Copy {
  readonly bids = new Map<string, string>();
  readonly asks = new Map<string, string>();
  isGood = false;
  #seq: unknown = null;

  take(frame: StreamFrame): void {
    if (frame.type === "snapshot") {
      const [data] = frame["data"] as BookData[];
      assert(data !== undefined);
      for (const side of [this.bids, this.asks]) side.clear();
      this.#put(data);
      this.#seq = frame["seq"];
    } else if (frame.type === "event") {
      assert.equal(frame["prev_seq"], this.#seq, "nothing is missing");
      this.#seq = frame["seq"];
      if (frame["event"] === "book_stale") this.isGood = false;
      else this.#put(frame["data"] as BookData);
    }
  }

  #put({ bids, asks, checksum }: BookData): void {
    for (const [side, levels] of [
      [this.bids, bids],
      [this.asks, asks],
    ] as const) {
      for (const { price, size } of levels) {
        if (size === "0") side.delete(price);
        else side.set(price, size);
      }
    }
    assert.equal(crc32(top(this.asks, 1) + top(this.bids, -1)), checksum, "the copy is proven");
    this.isGood = true;
  }
}

function top(side: ReadonlyMap<string, string>, sign: 1 | -1): string {
  const levels = [...side].toSorted(([a], [b]) => sign * (Number(a) - Number(b)));
  const micros = (text: string) => String(Math.round(Number(text) * 1_000_000));
  return levels
    .slice(0, 10)
    .map(([price, size]) => micros(price) + micros(size))
    .join("");
}

async function follow(token: string, query = "") {
  const client = await StreamClient.open(server.edge.url, { key, query });
  const copy = new Copy();
  const { subscription_id: id } = await client.subscribe({ type: "orderbook", token_id: token });
  let taken = 0;
  const catchUp = () => {
    for (; taken < client.frames.length; taken += 1) {
      const frame = client.frames[taken];
      if (frame === undefined || frame.type === "subscribed") continue;
      if (frame["subscription_id"] === id) copy.take(frame);
    }
  };
  const equalsVenue = () =>
    waitFor("a copy of the venue's book", async () => {
      catchUp();
      const isSame = (["BUY", "SELL"] as const).every((side) => {
        const own = side === "BUY" ? copy.bids : copy.asks;
        const levels = venue.book(token).levels(side);
        return levels.length === own.size && levels.every((one) => own.get(one.price) === one.size);
      });
      return copy.isGood && isSame ? true : null;
    });
  return { client, copy, equalsVenue, catchUp };
}

function trade(token: string, rounds: number): void {
  for (let round = 0; round < rounds; round += 1) {
    const side: VenueSide = round % 2 === 0 ? "BUY" : "SELL";
    const cents = side === "BUY" ? 10 + ((round * 7) % 30) : 60 + ((round * 7) % 30);
    const price = String(cents / 100);
    const size = round % 5 === 0 ? "0" : String(1 + round / 4);
    venue.change([{ assetId: token, side, price, size }]);
  }
}

test("a book is sent in full and then change by change, each with the checksum of the result", async () => {
  const token = takeToken();
  venue.book(token).set("BUY", "0.4", "10");
  const { client, equalsVenue } = await follow(token);
  await equalsVenue();
  trade(token, 200);
  await equalsVenue();
  assert.ok(client.events().length > 100, `${client.events().length} events`);
  const [first] = client.events();
  assert.deepEqual(first?.["channel"], { type: "orderbook", token_id: token });
  client.close();
});

test("batched, compressed and plain clients receive the same book", async () => {
  const token = takeToken();
  const one = await follow(token);
  trade(token, 20);
  await one.equalsVenue();
  const other = await follow(token, "?batch=1&compress=zlib");
  trade(token, 60);
  await Promise.all([one.equalsVenue(), other.equalsVenue()]);
  assert.ok(other.client.messages.binary > 0);
  one.client.close();
  trade(token, 61);
  await other.equalsVenue();
  other.client.close();
});

test("an unverified book is reported as stale, then sent in full again", async () => {
  const token = takeToken();
  venue.book(token).set("BUY", "0.4", "10");
  const { client, copy, equalsVenue, catchUp } = await follow(token);
  await equalsVenue();
  venue.messageFault = () => [];
  venue.change([{ assetId: token, side: "BUY", price: "0.2", size: "1" }]);
  venue.messageFault = null;
  venue.change([{ assetId: token, side: "BUY", price: "0.3", size: "1" }]);
  await client.until("the mismatch", () => client.events().length > 0);
  catchUp();
  const [mismatch] = client.events();
  assert.equal(mismatch?.["event"], "book_stale");
  assert.deepEqual(mismatch["data"], { token_id: token, stale_reason: "hash_mismatch" });
  await equalsVenue();
  assert.equal(copy.isGood, true);
  client.close();
});

test("a subscription to a book that cannot be followed is refused with the reason", async () => {
  const client = await StreamClient.open(server.edge.url, { key });
  const refused = async (channel: unknown, more = {}): Promise<Row> => {
    client.send({ action: "subscribe", channel, ...more });
    return (await client.next("error"))["error"] as Row;
  };
  const token = takeToken();
  assert.equal((await refused({ type: "orderbook", token_id: "4711" }))["code"], "NOT_FOUND");
  assert.equal((await refused({ type: "orderbook" }))["code"], "VALIDATION_ERROR");
  const resumed = await refused({ type: "orderbook", token_id: token }, { resume_from: 5 });
  assert.match(JSON.stringify(resumed), /order books have no history/);
  client.close();
});

test("a book sends no more events after an unsubscribe", async () => {
  const token = takeToken();
  const { client, equalsVenue } = await follow(token);
  await equalsVenue();
  client.send({ action: "unsubscribe", channel: { type: "orderbook", token_id: token } });
  await client.next("unsubscribed");
  const events = client.events().length;
  trade(token, 10);
  client.send({ action: "ping" });
  await client.next("pong");
  assert.equal(client.events().length, events);
  client.close();
});
