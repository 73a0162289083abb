/** R4: the times of headers are checked against those of their parents and the clock, like everything else. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { pino } from "pino";
import type { Address, Hash } from "../../src/base/ids.ts";
import { ChainSource, type ChainSourceOptions } from "../../src/chain/sync/chain-source.ts";
import { buildBlocks } from "../support/build-blocks.ts";
import { ChainFollower } from "../support/chain-follower.ts";
import { readRecording } from "../support/recorded/recording.ts";
import { serveRecording } from "../support/recorded/serve-recording.ts";
import { type ScriptedBlock, toQuantity } from "../support/scripted-block.ts";
import { ScriptedNode } from "../support/scripted-node.ts";
import { waitFor } from "../support/wait-for.ts";

const ours = `0x${"aa".repeat(20)}` as Address;
const topic = `0x${"11".repeat(32)}` as Hash;
const chain = buildBlocks(
  Array.from({ length: 120 }, (_, index) => {
    return { logs: index % 3 === 0 ? [{ address: ours, topics: [topic] }] : [] };
  }),
);
const final = 80;

const closers: (() => Promise<void> | void)[] = [];
after(async () => {
  for (const close of closers.toReversed()) await close();
});

/** The chain with other times, in headers and logs alike. Hashes stay as they are. */
function withTimes(lie: (block: ScriptedBlock) => number): readonly ScriptedBlock[] {
  return chain.map((block) => {
    const timestamp = lie(block);
    const logs = block.logs.map((log) => ({ ...log, blockTimestamp: toQuantity(timestamp) }));
    const header = { ...block.header, timestamp: toQuantity(timestamp) };
    return { ...block, timestamp, header, logs };
  });
}

async function openNode(blocks: readonly ScriptedBlock[]): Promise<ScriptedNode> {
  const node = await ScriptedNode.open({ blocks, chainId: 137 });
  closers.push(() => node.close());
  node.setFinalized(final);
  return node;
}

async function follow(nodes: readonly ScriptedNode[], more: Partial<ChainSourceOptions> = {}) {
  const reasons: string[] = [];
  const write = (line: string) =>
    reasons.push(String((JSON.parse(line) as { reason?: string }).reason));
  const source = await ChainSource.open(
    {
      urls: nodes.map(({ url }) => url),
      chainId: 137,
      startBlock: 0,
      filter: { addresses: [ours], topics0: [topic] },
      log: pino({ level: "warn" }, { write }),
      ...more,
    },
    ({ blocks }) => blocks,
  );
  closers.push(() => source.close());
  return { source, reasons, follower: new ChainFollower(source, 0) };
}

const now = Math.floor(Date.now() / 1000);
const year = 365 * 86_400;

/** How a node is wrong about the times of blocks from `from` on. */
const lies: Record<string, (from: number) => (block: ScriptedBlock) => number> = {
  "in 2102": (from) => at(from, () => 4_165_776_000),
  "in one block of 2102": (from) => only(from, () => 4_165_776_000),
  "an hour ahead of the clock": (from) => at(from, () => now + 3_700),
  "in milliseconds": (from) => at(from, ({ timestamp }) => timestamp * 1_000),
  "beyond all dates": (from) => at(from, () => Number.MAX_SAFE_INTEGER),
  "at the beginning of time": (from) => at(from, () => 0),
  "a second before the parent": (from) => only(from, ({ timestamp }) => timestamp - 3),
  "a year ago": (from) => at(from, ({ timestamp }) => timestamp - year),
};

function at(from: number, time: (block: ScriptedBlock) => number) {
  return (block: ScriptedBlock) => (block.number >= from ? time(block) : block.timestamp);
}

function only(wrong: number, time: (block: ScriptedBlock) => number) {
  return (block: ScriptedBlock) => (block.number === wrong ? time(block) : block.timestamp);
}

describe("a node that is wrong about times", { concurrency: 4 }, () => {
  for (const [name, lie] of Object.entries(lies)) {
    for (const from of [42, final + 1, 99]) {
      test(`from block ${from}, ${name}: as the only endpoint, its blocks are not indexed`, async () => {
        const node = await openNode(withTimes(lie(from)));
        const { source, reasons, follower } = await follow([node]);
        await waitFor("a wrong answer", async () => {
          return (
            source.status.endpoints.some(({ metrics }) => metrics.invalid_responses > 1) || null
          );
        });
        assert(follower.tip < from, `${follower.tip}`);
        assert.match(reasons.join("\n"), /ahead of the clock|older than block|not of their blocks/);
        node.fork(chain.slice(from));
        await follower.untilTip(119);
        follower.assertEquals(chain, () => true);
        assert.deepEqual(follower.failure, null);
      });
    }

    test(`${name}: with two correct endpoints, these are followed`, async () => {
      const nodes = [
        await openNode(withTimes(lie(42))),
        await openNode(chain),
        await openNode(chain),
      ];
      const { follower } = await follow(nodes);
      await follower.untilTip(119);
      follower.assertEquals(chain, () => true);
    });
  }

  test("an unfinalized block whose time the others deny is read again", async () => {
    const wrong = await openNode(withTimes(only(99, ({ timestamp }) => timestamp + 600)));
    const others = [await openNode(chain), await openNode(chain)];
    for (const node of [wrong, ...others]) node.setHead(99);
    for (const node of others) node.setHead(98);
    const { follower } = await follow([wrong, ...others]);
    await follower.untilTip(99);
    for (const node of others) node.setHead(119);
    await follower.until(({ tip }) => tip === 119);
    follower.assertEquals(chain, () => true);
  });

  test("a chain that is ahead of the clock on purpose is followed if that is allowed", async () => {
    const ahead = withTimes(
      ({ timestamp }) => timestamp - (chain[0]?.timestamp ?? 0) + now + 86_400,
    );
    const { follower } = await follow([await openNode(ahead)], { aheadSecondsMax: 100_000 });
    await follower.untilTip(119);
    follower.assertEquals(ahead, () => true);
  });
});

test("readiness, the log and the metrics say that the clock differs from the times of new blocks", async (t) => {
  const { node, startService } = await serveRecording(t, readRecording("contracts-a"));
  const first = 100;
  node.setHead(first);
  const service = await startService([node.wsUrl]);
  await service.waitIndexed(first);
  const readDetail = async () => {
    const answer = await service.request("/v1/ready");
    return (answer.body as { checks: { clock: { detail: string } } }).checks.clock.detail;
  };
  assert.equal(await readDetail(), "not compared with blocks yet");
  for (let head = first + 1; head <= first + 20; head += 1) {
    node.setHead(head);
    await service.waitIndexed(head);
  }
  assert.match(
    await readDetail(),
    /^\d+ s ahead of the newest blocks, or all of them arrive late$/,
  );
  assert.match(service.stderr, /system clock differs from the times of new blocks/);
  const metrics = await service.getText("/v1/metrics/prometheus");
  assert.match(metrics, /^oddwire_\w*block_arrival_seconds \d{3,}/m);
});
