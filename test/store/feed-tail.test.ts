/** Reading the end of the feed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readFeedTail } from "../../src/feed/cluster/feed-tail.ts";
import { MemoryFeed } from "../support/memory-feed.ts";

test("the tail ends although messages arrive faster than they are read", async () => {
  const feed = new MemoryFeed();
  const term = await feed.beginTerm("one");
  const append = () => feed.append(term, { kind: "revert", safeBlock: 1 }, null);
  const newest = await append();
  const read = feed.read.bind(feed);
  let reads = 0;
  feed.read = async (after, waitMs) => {
    reads += 1;
    assert(reads < 10, "the read ends");
    await append();
    return read(after, waitMs);
  };
  const tail = await readFeedTail(feed);
  assert((tail?.position.index ?? 0) >= newest.index);
});
