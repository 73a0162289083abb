/** What a new indexer publishes and records about the unfinalized blocks that nodes have from the one before. */

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { toFirstSeq } from "../../src/base/ids.ts";
import type { FeedMessage } from "../../src/feed/cluster/change-feed.ts";
import { Publisher } from "../../src/feed/cluster/publisher.ts";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import { toUnfinalizedDelta } from "../../src/market/delta.ts";
import type { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { appendFacts } from "../support/append-facts.ts";
import { cleanUp } from "../support/clean-up.ts";
import { buildChain } from "../support/generate-chain.ts";
import { MemoryFeed } from "../support/memory-feed.ts";
import { openFacts } from "../support/open-facts.ts";
import { silentLog as log } from "../support/silent-log.ts";
import { encode, getFacts } from "../support/store-chain.ts";
import { waitFor } from "../support/wait-for.ts";

const plan = { secondsLater: 2, reports: true, transactions: [] };
const chain = buildChain([plan, plan, plan, plan]);
const blocks = getFacts(chain);
const final = blocks.slice(0, 2);
const unfinalized = blocks.slice(2);
const fork = buildChain([plan, plan], { after: chain[2]?.block, salt: "fork" });
const [third = 0, fourth = 0] = unfinalized.map(({ number }) => number);

type Indexer = { readonly feed: MemoryFeed; readonly facts: IndexedFacts; readonly node: string };

/** Publishes blocks in a new term, and returns the messages of that term in the feed. */
async function publish(
  t: TestContext,
  indexer: Indexer,
  coming: readonly BlockFacts[],
): Promise<readonly FeedMessage[]> {
  const { feed, facts } = indexer;
  const lease = { tryAcquire: async () => true };
  const readStatus = () => ({ head: null, checks: {} });
  const publisher = new Publisher({ ...indexer, lease, readStatus, log });
  cleanUp(t, () => publisher.close());
  publisher.start();
  const term = await waitFor("the term", async () => publisher.term);
  for (const block of coming) {
    facts.apply(toUnfinalizedDelta(block));
    publisher.unfinalized(block);
  }
  const messages = await waitFor("the last block in the feed", async () => {
    const entries = await feed.read({ epoch: "", term: 0, index: 0 }, 0);
    const ours = entries.filter(({ position }) => position.term === term);
    const found = ours.flatMap(({ message }) => (message === null ? [] : [message]));
    const newest = (await feed.head())?.blocks.at(-1)?.block;
    const isSent = found.at(-1)?.kind === "status" && newest?.hash === coming.at(-1)?.hash;
    return isSent ? found : null;
  });
  await publisher.close();
  return messages;
}

test("an indexer reports its term also while the feed is unavailable", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  cleanUp(t, () => rm(folder, { recursive: true, force: true }));
  const facts = await openFacts(folder);
  cleanUp(t, () => facts.close());
  const feed = new MemoryFeed();
  const lease = { tryAcquire: async () => true };
  const readStatus = () => ({ head: null, checks: {} });
  const publisher = new Publisher({ feed, facts, node: "one", lease, readStatus, log });
  cleanUp(t, () => publisher.close());
  publisher.start();
  const term = await waitFor("the term", async () => publisher.term);
  let refused = 0;
  feed.append = async () => {
    throw new Error("the feed is unavailable");
  };
  feed.beginTerm = async () => {
    refused += 1;
    throw new Error("the feed is unavailable");
  };
  await waitFor("the end of the term", async () => (refused > 0 ? true : null));
  assert.equal(publisher.term, term);
});

/**
 * What a second indexer publishes when it has committed some blocks and then has others, and the certain position of a
 * block after a restart.
 */
async function takeOver(
  t: TestContext,
  coming: readonly BlockFacts[],
  committed: readonly BlockFacts[] = [],
) {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  cleanUp(t, () => rm(folder, { recursive: true, force: true }));
  let opened: IndexedFacts | null = null;
  cleanUp(t, () => opened?.close());
  const reopen = async (): Promise<IndexedFacts> => {
    await opened?.close();
    opened = await openFacts(folder, { isServedKnown: true });
    return opened;
  };
  const feed = new MemoryFeed();
  const first = await reopen();
  await appendFacts(first, encode(final));
  await first.reorgs.reserve(fourth);
  await publish(t, { feed, facts: first, node: "first" }, unfinalized);
  const second = await reopen();
  if (committed.length > 0) await appendFacts(second, encode(committed));
  const messages = await publish(t, { feed, facts: second, node: "second" }, coming);
  const { reorgs } = await reopen();
  const certain = (block: number) => reorgs.certainPosition(toFirstSeq(block));
  return { messages: messages.map(getName), certain };
}

function getName(message: FeedMessage): string {
  if (message.kind === "block") return `block ${message.block.number}`;
  return message.kind === "revert" ? `revert to ${message.safeBlock}` : message.kind;
}

suite("an indexer that takes over", () => {
  test("R17: publishes a revert from the first block whose hash differs, and records it", async (t) => {
    const { messages, certain } = await takeOver(t, [
      ...unfinalized.slice(0, 1),
      ...getFacts(fork),
    ]);
    assert.deepEqual(
      messages.filter((name) => name !== "status" && name !== "committed"),
      [`revert to ${third}`, `block ${fourth}`, `block ${fourth + 1}`],
    );
    assert.equal(certain(third), toFirstSeq(third));
    assert.equal(certain(fourth), toFirstSeq(fourth) - 1);
  });

  test("R17: publishes a revert before a commit that ends in another block, and records it", async (t) => {
    const committed = [...unfinalized.slice(0, 1), ...getFacts(fork).slice(0, 1)];
    const { messages, certain } = await takeOver(t, [], committed);
    assert.deepEqual(
      messages.filter((name) => name !== "status"),
      [`revert to ${third - 1}`, "committed"],
    );
    assert.equal(certain(fourth), toFirstSeq(third) - 1);
  });

  test("R17: publishes no block and no revert if it has committed the same blocks", async (t) => {
    const { messages, certain } = await takeOver(t, [], unfinalized);
    assert.deepEqual(
      messages.filter((name) => name !== "status"),
      ["committed"],
    );
    assert.equal(certain(fourth), toFirstSeq(fourth));
  });

  test("R17: publishes no block and no revert if it has the same blocks", async (t) => {
    const { messages, certain } = await takeOver(t, unfinalized);
    assert.deepEqual(
      messages.filter((name) => name !== "status" && name !== "committed"),
      [],
    );
    assert.equal(certain(fourth), toFirstSeq(fourth));
  });
});
