/** The client's copy of an order book, tested with a real service and a scripted venue. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as zlib from "node:zlib";
import * as fc from "fast-check";
import type { OrderBook } from "../../clients/typescript/src/api.ts";
import { OddwireClient } from "../../clients/typescript/src/client.ts";
import { crc32 } from "../../clients/typescript/src/crc32.ts";
import { type BookFrame, LocalBook } from "../../clients/typescript/src/local-book.ts";
import { cleanUp } from "../support/clean-up.ts";
import { readRecording } from "../support/recorded/recording.ts";
import { serveRecording } from "../support/recorded/serve-recording.ts";
import { ScriptedVenue } from "../support/scripted-venue.ts";
import { adminKey } from "../support/service.ts";

const recording = readRecording("contracts-gen2");

test("the CRC-32 equals that of zlib", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme-ascii" }), (text) => {
      assert.equal(crc32(text), zlib.crc32(text));
    }),
  );
});

test("the checksum equals the one in the documentation", () => {
  const book = new LocalBook();
  book.take(
    getSnapshot({
      bids: [
        { price: "0.45", size: "20" },
        { price: "0.4", size: "10.5" },
      ],
      asks: [
        { price: "0.46", size: "3" },
        { price: "0.99", size: "100" },
      ],
    }),
  );
  assert.equal(book.checksum, 3_201_457_651);
});

suite("a change", () => {
  test("is applied and verifies the copy", () => {
    const book = new LocalBook();
    book.take(getSnapshot({ bids: [{ price: "0.4", size: "10" }], asks: [] }));
    const after = new LocalBook();
    after.take(getSnapshot({ bids: [{ price: "0.41", size: "7" }], asks: [] }));
    const bids = [
      { price: "0.4", size: "0" },
      { price: "0.41", size: "7" },
    ];
    assert.ok(book.take(getChange({ bids, asks: [], checksum: after.checksum })));
    assert.deepEqual(book.bids, [{ price: "0.41", size: "7" }]);
    assert.equal(book.staleReason, null);
  });

  test("with a different checksum makes the copy stale", () => {
    const book = new LocalBook();
    book.take(getSnapshot({ bids: [{ price: "0.4", size: "10" }], asks: [] }));
    assert.ok(!book.take(getChange({ bids: [], asks: [], checksum: 1 })));
    assert.match(book.staleReason ?? "", /checksum/);
  });
});

test("a book is followed through changes and a reconnect to the venue", async (t) => {
  const { node, head, startService } = await serveRecording(t, recording);
  const venue = await ScriptedVenue.open({ hasEveryBook: true });
  cleanUp(t, async () => venue.close());
  const service = await startService([node.wsUrl], venue.settings);
  await service.waitFinalized(head);
  const client = new OddwireClient({ url: service.baseUrl, key: adminKey });
  const [market] = (await client.markets({ status: "all", limit: 1 }).page()).data;
  const tokenId = market?.tokens.at(0)?.token_id ?? "";
  venue.book(tokenId).set("BUY", "0.4", "10");

  const sizes = ["12", "14.25", "0", "9"];
  const seen: string[] = [];
  for await (const book of client.followBook(tokenId)) {
    if (book.staleReason !== null) continue;
    const size = book.bids.find(({ price }) => price === "0.4")?.size ?? "0";
    if (seen.at(-1) !== size) seen.push(size);
    const next = sizes.shift();
    if (next === undefined) break;
    venue.change([{ assetId: tokenId, side: "BUY", price: "0.4", size: next }]);
    if (sizes.length === 1) venue.dropSockets();
  }
  assert.equal(seen[0], "10");
  assert.equal(seen.at(-1), "9");
});

function getSnapshot(sides: Pick<OrderBook, "bids" | "asks">): BookFrame {
  const book = { ...sides, stale_reason: null } as OrderBook;
  return { type: "snapshot", subscription_id: "s1", seq: 1, data: [book] };
}

function getChange(change: Pick<OrderBook, "bids" | "asks" | "checksum">): BookFrame {
  const timestamp = "2026-05-01T12:00:00.000Z";
  const data = {
    token_id: "1",
    ...change,
    hash: null,
    timestamp,
    timestamp_ms: Date.parse(timestamp),
  };
  const channel = { type: "orderbook", token_id: "1" };
  const place = { channel, subscription_id: "s1", seq: 2, prev_seq: 1 };
  return { type: "event", event: "book", ...place, data };
}
