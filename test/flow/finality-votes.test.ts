/**
 * R2: a minority of endpoints never decides what is final, whatever head it claims and for how long,
 * even while the other endpoints cannot be reached.
 */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { Address, Hash } from "../../src/base/ids.ts";
import { openLog } from "../../src/base/log.ts";
import type { ChainWarning } from "../../src/chain/rpc/chain-warning.ts";
import { ChainSource, type ChainSourceOptions } from "../../src/chain/sync/chain-source.ts";
import { type BlockSpec, buildBlocks } from "../support/build-blocks.ts";
import { ChainFollower } from "../support/chain-follower.ts";
import * as faults from "../support/faults.ts";
import type { RpcLog, ScriptedBlock } from "../support/scripted-block.ts";
import { ScriptedNode } from "../support/scripted-node.ts";
import { waitFor } from "../support/wait-for.ts";

const ours = `0x${"aa".repeat(20)}` as Address;
const topic = `0x${"11".repeat(32)}` as Hash;
const log = openLog({ level: "silent" });

const closers: (() => Promise<void> | void)[] = [];
after(async () => {
  for (const close of closers.toReversed()) await close();
});

function specs(count: number): BlockSpec[] {
  const mine = { address: ours, topics: [topic], data: "0x" };
  return Array.from({ length: count }, (_, index) => ({ logs: index % 3 === 0 ? [mine] : [] }));
}

const isOurs = ({ address }: RpcLog) => address === ours;

async function openNodes(count: number, blocks: readonly ScriptedBlock[], head: number) {
  const nodes: ScriptedNode[] = [];
  for (let index = 0; index < count; index += 1) {
    const node = await ScriptedNode.open({ blocks, chainId: 137 });
    closers.push(() => node.close());
    node.setFinalized({ behindHead: 10 });
    node.setHead(head);
    nodes.push(node);
  }
  return nodes;
}

async function openSource(
  nodes: readonly ScriptedNode[],
  options: Partial<ChainSourceOptions> = {},
): Promise<ChainSource> {
  const filter = { addresses: [ours], topics0: [topic] };
  const urls = nodes.map(({ url }) => url);
  const fixed = { urls, chainId: 137, startBlock: 0, filter, log };
  const source = await ChainSource.open({ ...fixed, ...options }, ({ blocks }) => blocks);
  closers.push(() => source.close());
  return source;
}

/** `count` blocks of a competing chain that replaces the blocks from `number` on. */
function getRival(chain: readonly ScriptedBlock[], number: number, count: number): ScriptedBlock[] {
  const parent = chain[number - 1];
  assert(parent !== undefined);
  return buildBlocks(specs(count), { after: parent, salt: `rival ${number}` });
}

async function waitForWarning(source: ChainSource, warning: ChainWarning): Promise<void> {
  await waitFor(warning, async () => source.status.warnings.includes(warning) || null);
}

/** Resolves when each of the nodes has received this many more requests. */
async function untilRequested(nodes: readonly ScriptedNode[], times: number): Promise<void> {
  const requested = (node: ScriptedNode) => [...node.calls.values()].reduce((sum, n) => sum + n, 0);
  const before = nodes.map(requested);
  await waitFor("requests", async () => {
    return nodes.every((node, index) => requested(node) >= (before[index] ?? 0) + times) || null;
  });
}

/** Lets the honest nodes go on block by block, and then reorganizes their last five blocks. */
async function goOn(
  honest: readonly ScriptedNode[],
  chain: readonly ScriptedBlock[],
  { from, to }: { from: number; to: number },
): Promise<readonly ScriptedBlock[]> {
  for (let head = from; head <= to; head += 1) for (const node of honest) node.setHead(head);
  const rival = getRival(chain, to - 4, 12);
  for (const node of honest) node.fork(rival);
  return [...chain.slice(0, to - 4), ...rival];
}

describe("R2: one endpoint of three that is far ahead on another chain does not decide finality", {
  concurrency: 2,
}, () => {
  test("from the start", async () => {
    const chain = buildBlocks(specs(300));
    const nodes = await openNodes(3, chain, 250);
    const [rogue, ...honest] = nodes as [ScriptedNode, ScriptedNode, ScriptedNode];
    rogue.fork(getRival(chain, 20, 1_200));
    const source = await openSource(nodes);
    const follower = new ChainFollower(source, 0);
    await follower.untilTip(250);
    assert(source.status.warnings.includes("head_not_believed"));
    assert.deepEqual(
      source.status.endpoints.map(({ problem }) => problem?.text ?? null),
      ["claims a head far above those of the others", null, null],
    );
    assert.equal(source.status.head?.number, 250);
    const expected = await goOn(honest, chain, { from: 251, to: 299 });
    const last = expected.length - 1;
    await follower.until(({ tip, finalized }) => tip === last && finalized === last - 10);
    follower.assertEquals(expected, isOurs);
  });

  test("later for a while, followed by a reorg of the honest chain", async () => {
    const chain = buildBlocks(specs(300));
    const nodes = await openNodes(3, chain, 200);
    const [rogue, ...honest] = nodes as [ScriptedNode, ScriptedNode, ScriptedNode];
    const source = await openSource(nodes);
    const follower = new ChainFollower(source, 0);
    await follower.until(({ tip, finalized }) => tip === 200 && finalized === 190);
    rogue.fork(getRival(chain, 195, 900));
    await waitForWarning(source, "head_not_believed");
    for (let head = 201; head <= 240; head += 1) for (const node of honest) node.setHead(head);
    await follower.until(({ tip, finalized }) => tip === 240 && finalized === 230);
    rogue.fork(chain.slice(195));
    rogue.setHead(240);
    const expected = await goOn(nodes, chain, { from: 241, to: 299 });
    const last = expected.length - 1;
    await follower.until(({ tip, finalized }) => tip === last && finalized === last - 10);
    follower.assertEquals(expected, isOurs);
    await waitFor("the warning to end", async () => {
      return !source.status.warnings.includes("head_not_believed") || null;
    });
  });

  test("while the two other endpoints cannot be reached", async () => {
    const chain = buildBlocks(specs(300));
    const nodes = await openNodes(3, chain, 200);
    const [rogue, ...honest] = nodes as [ScriptedNode, ScriptedNode, ScriptedNode];
    const source = await openSource(nodes);
    const follower = new ChainFollower(source, 0);
    await follower.until(({ tip, finalized }) => tip === 200 && finalized === 190);
    const ways = honest.map((node) => node.fault(() => faults.badGateway));
    rogue.fork(getRival(chain, 195, 30));
    await waitForWarning(source, "majority_absent");
    await untilRequested([rogue], 20);
    assert.equal(follower.finalized, 190);
    for (const heal of ways) heal();
    const expected = await goOn(honest, chain, { from: 201, to: 290 });
    const last = expected.length - 1;
    await follower.until(({ tip, finalized }) => tip === last && finalized === last - 10);
    follower.assertEquals(expected, isOurs);
  });
});

describe("R2: two endpoints", { concurrency: 2 }, () => {
  test("do not agree on a final block while one is far ahead on another chain", async () => {
    const chain = buildBlocks(specs(300));
    const nodes = await openNodes(2, chain, 200);
    const [rogue, honest] = nodes as [ScriptedNode, ScriptedNode];
    rogue.fork(getRival(chain, 150, 900));
    const source = await openSource(nodes);
    const follower = new ChainFollower(source, 0);
    await waitForWarning(source, "finality_disputed");
    honest.setHead(299);
    await untilRequested(nodes, 20);
    assert.equal(follower.finalized, -1);
    rogue.fork(chain.slice(150));
    await follower.until(({ tip, finalized }) => tip === 299 && finalized === 289);
    follower.assertEquals(chain, isOurs);
  });

  test("that dispute finality: one does not decide alone while the other cannot be reached", async () => {
    const chain = buildBlocks(specs(120));
    const nodes = await openNodes(2, chain, 59);
    for (const node of nodes) node.setFinalized(40);
    const [good, other] = nodes as [ScriptedNode, ScriptedNode];
    const source = await openSource(nodes);
    const follower = new ChainFollower(source, 0);
    await follower.untilTip(59);
    other.fork(getRival(chain, 50, 10));
    for (const node of nodes) node.setFinalized(55);
    await waitForWarning(source, "finality_disputed");
    const heal = good.fault(() => faults.badGateway);
    await waitFor("the endpoint is down", async () => {
      return source.status.endpoints[0]?.metrics.breaker_state !== "closed" || null;
    });
    other.fork(getRival(chain, 50, 30));
    other.setFinalized(70);
    await untilRequested([other], 30);
    assert.equal(follower.finalized, 40);
    assert(source.status.warnings.includes("majority_absent"));
    heal();
    other.fork(chain.slice(50));
    for (const node of nodes) node.setHead(119);
    for (const node of nodes) node.setFinalized(110);
    await follower.until(({ tip, finalized }) => tip === 119 && finalized === 110);
    follower.assertEquals(chain, isOurs);
    assert.equal(follower.failure, null);
  });
});
