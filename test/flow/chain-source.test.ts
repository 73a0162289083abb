/**
 * The chain source against scripted nodes on real sockets: despite every known fault of a node, the
 * logs are complete and in order.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, describe, test } from "node:test";
import { pino } from "pino";
import { chainLimits } from "../../src/base/config/limits.ts";
import type { Address, Hash } from "../../src/base/ids.ts";
import { openLog } from "../../src/base/log.ts";
import { ReorgBeyondFinalityError, WrongChainError } from "../../src/chain/chain-errors.ts";
import type { TimedBlock } from "../../src/chain/raw-log.ts";
import type { ChainWarning } from "../../src/chain/rpc/chain-warning.ts";
import { ChainSource, type ChainSourceOptions } from "../../src/chain/sync/chain-source.ts";
import { allLogsInBloomFrom } from "../../src/chain/verify/bloom.ts";
import { type BlockSpec, buildBlocks } from "../support/build-blocks.ts";
import { ChainFollower } from "../support/chain-follower.ts";
import * as faults from "../support/faults.ts";
import { testSeed } from "../support/property-settings.ts";
import { RpcError, type RpcRequest, requestedRange } from "../support/scripted-answers.ts";
import { type RpcLog, type ScriptedBlock, toQuantity } from "../support/scripted-block.ts";
import type { Finality } from "../support/scripted-chain.ts";
import { ScriptedNode } from "../support/scripted-node.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { waitFor } from "../support/wait-for.ts";

const ours = `0x${"aa".repeat(20)}` as Address;
const foreign = `0x${"bb".repeat(20)}`;
const topic = `0x${"11".repeat(32)}` as Hash;
const otherTopic = `0x${"22".repeat(32)}`;
const thirdTopic = `0x${"33".repeat(32)}` as Hash;
const log = openLog({ level: "silent" });

/** Blocks with wanted logs, with foreign logs, with both, and without logs. */
function specs(count: number): BlockSpec[] {
  const mine = { address: ours, topics: [topic, otherTopic], data: `0x${"07".repeat(64)}` };
  const theirs = { address: foreign, topics: [otherTopic] };
  const kinds = [[mine], [], [theirs, mine, mine], [theirs], []];
  return Array.from({ length: count }, (_, index) => ({ logs: kinds[index % kinds.length] ?? [] }));
}

type RangeCapName = keyof typeof faults.rangeCapMessages;
type ResultCapName = keyof typeof faults.resultCapMessages;

const isOurs = ({ address, topics }: RpcLog) => address === ours && topics[0] === topic;

type Scene = {
  node: ScriptedNode;
  chain: readonly ScriptedBlock[];
  source: ChainSource;
  follower: ChainFollower;
  /** The reasons of failures, from the log. */
  reasons: readonly string[];
};

const closers: (() => Promise<void> | void)[] = [];

/** Closes what the tests of a suite have opened: sources would follow their nodes until the last test has ended. */
async function closeOpened(): Promise<void> {
  for (const close of closers.splice(0).toReversed()) await close();
}
after(closeOpened);

async function openNode(blocks: readonly ScriptedBlock[], chainId = 137): Promise<ScriptedNode> {
  const node = await ScriptedNode.open({ blocks, chainId });
  closers.push(() => node.close());
  node.setFinalized({ behindHead: 2 });
  return node;
}

async function openSource(
  urls: readonly string[],
  options: Partial<ChainSourceOptions> = {},
): Promise<ChainSource> {
  const filter = { addresses: [ours], topics0: [topic] };
  const fixed = { urls, chainId: 137, startBlock: 0, filter, log };
  const source = await ChainSource.open({ ...fixed, ...options }, ({ blocks }) => blocks);
  closers.push(() => source.close());
  return source;
}

/** One node with `count` blocks, the first `shown` of them visible, and a follower from block 0. */
async function openScene(
  count: number,
  options: {
    visible?: number;
    finality?: Finality;
    prepare?: (node: ScriptedNode) => void;
    useWebSocket?: boolean;
  } = {},
): Promise<Scene> {
  const chain = buildBlocks(specs(count));
  const node = await openNode(chain);
  if (options.finality !== undefined) node.setFinalized(options.finality);
  node.setHead((options.visible ?? count) - 1);
  options.prepare?.(node);
  const reasons: string[] = [];
  const write = (line: string) => {
    const { reason } = JSON.parse(line) as { readonly reason?: string };
    if (reason !== undefined) reasons.push(reason);
  };
  const source = await openSource([options.useWebSocket ? node.wsUrl : node.url], {
    log: pino({ level: "debug" }, { write }),
  });
  return { node, chain, source, follower: new ChainFollower(source, 0), reasons };
}

/** `count` blocks of a competing chain that replaces the blocks from `number` on. */
function getRival(chain: readonly ScriptedBlock[], number: number, count: number): ScriptedBlock[] {
  const parent = chain[number - 1];
  assert(parent !== undefined);
  return buildBlocks(specs(count), { after: parent, salt: `rival ${number}` });
}

/** Three nodes with one chain, at block 59. */
async function openThree(): Promise<{ nodes: readonly ScriptedNode[]; chain: ScriptedBlock[] }> {
  const chain = buildBlocks(specs(1_000));
  const nodes = [await openNode(chain), await openNode(chain), await openNode(chain)];
  for (const node of nodes) {
    node.setFinalized(40);
    node.setHead(59);
  }
  return { nodes, chain };
}

/**
 * Lets the first node leave the chain at block 50, ten blocks ahead of the others. All nodes have new blocks from then
 * on, since nodes without any are no longer asked for their branch. Returns a function that ends this.
 */
function startRivalry(nodes: readonly ScriptedNode[], chain: readonly ScriptedBlock[]): () => void {
  const [odd, ...others] = nodes;
  odd?.fork(getRival(chain, 50, chain.length - 50));
  let head = 59;
  const addBlocks = () => {
    odd?.setHead(head + 10);
    for (const node of others) node.setHead(head);
    head = Math.min(head + 1, chain.length - 11);
  };
  addBlocks();
  const timer = setInterval(addBlocks, 100);
  const stop = () => clearInterval(timer);
  closers.push(stop);
  return stop;
}

async function waitForChainWarning(source: ChainSource, warning: ChainWarning): Promise<void> {
  await waitFor(warning, async () => source.status.warnings.includes(warning) || null);
}

function getTimed(block: ScriptedBlock | undefined): TimedBlock {
  assert(block !== undefined);
  return { number: block.number, hash: block.hash as Hash, timestamp: block.timestamp };
}

describe("following the chain", () => {
  after(closeOpened);

  test("R1: reads finalized blocks in ranges, later ones singly, and then follows the head", async () => {
    const { node, chain, source, follower } = await openScene(1_300, { visible: 1_250 });
    await follower.untilTip(1_249);
    for (let head = 1_250; head < 1_300; head += 1) node.setHead(head);
    await follower.untilTip(1_299);
    await follower.until(({ finalized }) => finalized === 1_297);
    follower.assertEquals(chain, isOurs);
    const { status } = source;
    assert.equal(status.finalized?.hash, chain[1_297]?.hash);
    assert.equal(status.reorgs, 0);
    assert.deepEqual(status.warnings, []);
    source.close();
    await follower.until(({ isOver }) => isOver);
    assert.equal(follower.failure, null);
  });

  test("reads a chain of one block, which has no parent", async () => {
    const { follower, chain } = await openScene(1);
    await follower.untilTip(0);
    follower.assertEquals(chain, isOurs);
  });

  test("waits for the head if it starts above it, and begins at the head with `latest`", async () => {
    const chain = buildBlocks(specs(40));
    const node = await openNode(chain);
    node.setHead(20);
    const late = new ChainFollower(await openSource([node.url], { startBlock: 30 }), 30);
    const latest = new ChainFollower(await openSource([node.url], { startBlock: "latest" }), 20);
    await latest.untilTip(20);
    assert.equal(late.tip, -1);
    node.setHead(35);
    await late.untilTip(35);
    await latest.untilTip(35);
    late.assertEquals(chain, isOurs);
    latest.assertEquals(chain, isOurs);
  });

  test("resumes after the given block if the node still has that block", async () => {
    const chain = buildBlocks(specs(700));
    const node = await openNode(chain);
    const source = await openSource([node.url]);
    const follower = new ChainFollower(source, 100, getTimed(chain[99]));
    await follower.untilTip(699);
    follower.assertEquals(chain, isOurs);
  });
});

describe("reorgs", { concurrency: 4 }, () => {
  after(closeOpened);

  test("R1: a reorg is reverted to the last common block, and its blocks are followed", async () => {
    const { node, chain, source, follower } = await openScene(60, { finality: 40 });
    await follower.untilTip(59);
    const rival = getRival(chain, 50, 15);
    node.fork(rival);
    await follower.untilTip(64);
    assert.deepEqual(follower.forks, [49]);
    follower.assertEquals([...chain.slice(0, 50), ...rival], isOurs);
    assert.equal(source.status.reorgs, 1);
    assert.equal(source.status.deepestReorg, 10);
  });

  test("R1: follows reorgs down to the final block: to a shorter chain, back again, and to a longer one", async () => {
    const { node, chain, follower } = await openScene(80, { finality: 40 });
    await follower.untilTip(79);
    const shorter = getRival(chain, 41, 5);
    node.fork(shorter);
    await follower.untilTip(45);
    const back = chain.slice(41);
    node.fork(back);
    await follower.untilTip(79);
    const longer = getRival(chain, 79, 90);
    node.fork(longer);
    await follower.untilTip(168);
    node.setFinalized({ behindHead: 0 });
    await follower.until(({ finalized }) => finalized === 168);
    assert.deepEqual(follower.forks, [40, 40, 78]);
    follower.assertEquals([...chain.slice(0, 79), ...longer], isOurs);
  });

  test("R1: follows reorgs of every depth down to finality, one after the other", async () => {
    const { node, chain, follower } = await openScene(60, { finality: 39 });
    await follower.untilTip(59);
    let now: readonly ScriptedBlock[] = chain;
    for (let depth = 1; depth <= 20; depth += 1) {
      const from = 60 - depth;
      const rival = buildBlocks(specs(depth), { after: now[from - 1], salt: `depth ${depth}` });
      now = [...now.slice(0, from), ...rival];
      node.fork(rival);
      await follower.until(({ tipHash }) => tipHash === now[59]?.hash);
      follower.assertEquals(now, isOurs);
    }
    assert.deepEqual(
      follower.forks,
      Array.from({ length: 20 }, (_, index) => 58 - index),
    );
  });

  test("R3: a reorg below finality stops the source and reverts nothing", async () => {
    const { node, chain, follower } = await openScene(60);
    await follower.until(({ finalized }) => finalized === 57);
    node.fork(getRival(chain, 50, 20));
    await follower.until(({ isOver }) => isOver);
    assert(follower.failure instanceof ReorgBeyondFinalityError);
    assert.match(follower.failure.message, new RegExp(`block 57 ${getTimed(chain[57]).hash} `));
    assert.deepEqual(follower.forks, []);
    follower.assertEquals(chain, isOurs);
  });

  test("R2: finality on another branch reverts ours", async () => {
    const { node, chain, follower } = await openScene(60, { finality: 40 });
    await follower.untilTip(59);
    const rival = getRival(chain, 50, 40);
    node.setFinalized({ behindHead: 1 });
    node.fork(rival);
    await follower.until(({ finalized }) => finalized === 88);
    await follower.untilTip(89);
    follower.assertEquals([...chain.slice(0, 50), ...rival], isOurs);
  });

  test("a branch of only one of three endpoints is not followed", async () => {
    const { nodes, chain } = await openThree();
    const source = await openSource(nodes.map(({ url }) => url));
    const follower = new ChainFollower(source, 0);
    await follower.untilTip(59);
    const stop = startRivalry(nodes, chain);
    await follower.until(({ tip, tipHash }) => tip >= 79 && tipHash === chain[tip]?.hash);
    for (const node of nodes) node.setFinalized(75);
    await follower.until(
      ({ tip, tipHash, finalized }) => finalized === 75 && tipHash === chain[tip]?.hash,
    );
    follower.assertEquals(chain, isOurs);
    assert(source.status.endpoints.some(({ metrics }) => metrics.invalid_responses > 0));
    stop();
  });

  test("a branch that was left is not followed again just because it is longer", async () => {
    const { nodes, chain } = await openThree();
    const stop = startRivalry(nodes, chain);
    const follower = new ChainFollower(await openSource(nodes.map(({ url }) => url)), 0);
    await follower.until(({ tip, tipHash }) => tip >= 79 && tipHash === chain[tip]?.hash);
    assert(follower.forks.length <= 1, `branches left at ${follower.forks.join()}`);
    follower.assertEquals(chain, isOurs);
    stop();
  });

  test("R2: finality waits while two endpoints have different final branches", async () => {
    const chain = buildBlocks(specs(60));
    const [one, two] = [await openNode(chain), await openNode(chain)];
    for (const node of [one, two]) node.setFinalized(40);
    const source = await openSource([one.url, two.url]);
    const follower = new ChainFollower(source, 0);
    await follower.untilTip(59);
    two.fork(getRival(chain, 50, 10));
    for (const node of [one, two]) node.setFinalized(55);
    await waitForChainWarning(source, "finality_disputed");
    assert.equal(follower.finalized, 40);
    two.fork(chain.slice(50));
    await follower.until(({ finalized }) => finalized === 55);
    follower.assertEquals(chain, isOurs);
  });
});

describe("finality", { concurrency: 4 }, () => {
  after(closeOpened);

  test("R2: without the finalized tag, head - 256 is final, with a warning", async () => {
    const { chain, source, follower } = await openScene(400, { finality: null });
    await follower.untilTip(399);
    assert.equal(source.status.finalized?.hash, chain[399 - 256]?.hash);
    assert.deepEqual(source.status.warnings, ["finalized_missing"]);
    follower.assertEquals(chain, isOurs);
  });

  test("R2: a stuck tag is trusted until it is 256 blocks behind the head", async () => {
    const { node, chain, source, follower } = await openScene(600, { finality: 0, visible: 200 });
    await follower.untilTip(199);
    assert.equal(source.status.finalized?.number, 0);
    assert.deepEqual(source.status.warnings, []);
    node.setHead(500);
    await follower.until(({ tip, finalized }) => tip === 500 && finalized === 500 - 256);
    assert.deepEqual(source.status.warnings, ["finalized_lagging"]);
    follower.assertEquals(chain, isOurs);
  });

  test("R2: a tag that goes back is a warning, and finality stays", async () => {
    const { node, chain, source, follower } = await openScene(300, { finality: 250 });
    await follower.untilTip(299);
    node.setFinalized(200);
    await waitForChainWarning(source, "finalized_went_back");
    assert.equal(source.status.finalized?.hash, chain[250]?.hash);
    node.setFinalized(280);
    await follower.until(({ finalized }) => finalized === 280);
    assert.deepEqual(source.status.warnings, []);
  });

  test("R3: heads below our final block are a warning until one has risen again", async () => {
    const { node, chain, source, follower } = await openScene(300, { finality: 250 });
    await follower.untilTip(299);
    node.setHead(249);
    await waitForChainWarning(source, "head_below_final");
    node.setHead(299);
    await waitFor("the head", async () => source.status.warnings.length === 0 || null);
    assert.equal(source.status.finalized?.hash, chain[250]?.hash);
    follower.assertEquals(chain, isOurs);
  });

  test("R2, R15: while finality is disputed, unfinalized blocks grow to their bound, and then the source waits", async () => {
    const chain = buildBlocks(specs(1_300));
    const [one, two] = [await openNode(chain), await openNode(chain)];
    for (const node of [one, two]) {
      node.setFinalized(40);
      node.setHead(60);
    }
    two.fork(getRival(chain, 50, 1_250));
    for (const node of [one, two]) node.setFinalized(1_290);
    one.setHead(1_299);
    const source = await openSource([one.url, two.url]);
    const follower = new ChainFollower(source, 41, getTimed(chain[40]));
    await waitForChainWarning(source, "head_buffer_full");
    assert.equal(follower.tip, 40 + chainLimits.headBufferBlocksMax);
    two.fork(chain.slice(50));
    await follower.until(({ tip, finalized }) => tip === 1_299 && finalized === 1_290);
    follower.assertEquals(chain, isOurs);
  });

  test("R2: the smallest final block of two endpoints is final", async () => {
    const chain = buildBlocks(specs(60));
    const [one, two] = [await openNode(chain), await openNode(chain)];
    one.setFinalized(50);
    two.setFinalized(45);
    const source = await openSource([one.url, two.url]);
    const follower = new ChainFollower(source, 0);
    await follower.untilTip(59);
    assert.equal(source.status.finalized?.hash, chain[45]?.hash);
    assert.equal(follower.finalized, 45);
  });
});

describe("ranges", { concurrency: 4 }, () => {
  after(closeOpened);

  const refusals = [
    ...Object.keys(faults.rangeCapMessages).map((name) => ["range", name] as const),
    ...Object.keys(faults.resultCapMessages).map((name) => ["result", name] as const),
  ];
  for (const [kind, name] of refusals) {
    test(`R5: the ${kind} cap of ${name} is learned`, async () => {
      const { chain, follower } = await openScene(1_000, {
        prepare: (node) => {
          if (kind === "range") node.fault(faults.rangeCap(70, name as RangeCapName));
          else node.fault(faults.resultCap(40, name as ResultCapName));
        },
      });
      await follower.untilTip(999);
      follower.assertEquals(chain, isOurs);
    });
  }

  test("R5: the only endpoint is read even if it refuses all but single blocks with an unknown message", async () => {
    const { chain, follower } = await openScene(120, {
      prepare: (node) => node.fault(faults.rangeCap(1, "nobodys")),
    });
    await follower.untilTip(119);
    follower.assertEquals(chain, isOurs);
  });

  test("R5: the logs of a single block that is still too large are read from its receipts", async () => {
    const { node, chain, follower } = await openScene(30, {
      prepare: (node) => node.fault(faults.resultCap(1, "geth")),
    });
    await follower.untilTip(29);
    follower.assertEquals(chain, isOurs);
    assert(node.calls.has("eth_getBlockReceipts"));
  });

  test("R5: smaller ranges are requested from a gateway that fails for large ones", async () => {
    const { chain, follower } = await openScene(1_000, {
      prepare: (node) =>
        node.fault((request, view) => {
          const range = requestedRange(request, view);
          return range !== null && range.to - range.from > 60 ? faults.badGateway : null;
        }),
    });
    await follower.untilTip(999);
    follower.assertEquals(chain, isOurs);
  });

  test("R5: no request exceeds a cap that the endpoint has named", async () => {
    const { node, source, follower } = await openScene(2_000, {
      prepare: (node) => node.fault(faults.rangeCap(60, "quicknode")),
    });
    await follower.untilTip(1_999);
    assert.equal(source.status.endpoints[0]?.metrics.range_blocks_max, 60);
    assert((node.calls.get("eth_getLogs") ?? 0) < 50, "hardly a call more than needed");
  });
});

describe("faults that pass", { concurrency: 8 }, () => {
  after(closeOpened);

  for (const [name, hook] of Object.entries(faults.passingFaults)) {
    for (const when of ["catching up", "at the head"]) {
      test(`R4, R6: ${name}, ${when}`, async () => {
        const offenses = faults.times(2, hook);
        const isLate = when === "at the head";
        const { node, chain, follower } = await openScene(300, { visible: isLate ? 280 : 300 });
        if (!isLate) node.fault(offenses);
        await follower.untilTip(isLate ? 279 : 299);
        if (isLate) node.fault(offenses);
        node.setHead(299);
        await follower.untilTip(299);
        follower.assertEquals(chain, isOurs);
      });
    }
  }

  test("R2, R4: an endpoint that lags gets no requests for blocks that it does not have", async () => {
    const chain = buildBlocks(specs(700));
    const [late, good] = [await openNode(chain), await openNode(chain)];
    late.setHead(600);
    good.setHead(650);
    const source = await openSource([late.url, good.url]);
    const follower = new ChainFollower(source, 0);
    await follower.untilTip(650);
    assert.equal(source.status.finalized?.number, 598, "the least of both");
    late.setHead(640);
    good.setHead(660);
    await follower.until(({ tip, finalized }) => tip === 660 && finalized === 638);
    follower.assertEquals(chain, isOurs);
    assert(source.status.endpoints.every(({ metrics }) => metrics.invalid_responses === 0));
  });

  test("R6: a hanging request is sent to another node", async () => {
    const chain = buildBlocks(specs(300));
    const [one, two] = [await openNode(chain), await openNode(chain)];
    for (const node of [one, two]) node.setHead(290);
    const source = await openSource([one.url, two.url]);
    const follower = new ChainFollower(source, 0);
    await follower.untilTip(290);
    one.fault(() => faults.hang);
    for (const node of [one, two]) node.setHead(299);
    await follower.untilTip(299);
    follower.assertEquals(chain, isOurs);
  });
});

test("R6: a range that the only endpoint does not answer is requested again after two seconds", async () => {
  let ranges = 0;
  const { chain, follower } = await openScene(900, {
    prepare: (node) => {
      node.fault(faults.rangeCap(100, "quicknode"));
      node.fault((request, view) => {
        if (requestedRange(request, view) === null) return null;
        ranges += 1;
        return ranges === 5 ? faults.hang : null;
      });
    },
  });
  await follower.untilTip(899);
  follower.assertEquals(chain, isOurs);
});

describe("faults that last", { concurrency: 4 }, () => {
  after(closeOpened);

  test("R4: wrong block times in the logs of the only node are found by sampling headers", async () => {
    const chain = buildBlocks(specs(4_000));
    const node = await openNode(chain);
    // The times are plausible: correct at both ends of a range, a second early in between, and never decreasing.
    const lie: faults.FaultHook = faults.on("eth_getLogs", ({ params: [filter] }) => {
      const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
      const change = (logs: readonly RpcLog[]) =>
        logs.map((log) => {
          const time = chain[Number(log.blockNumber)]?.timestamp ?? 0;
          const isEnd = [fromBlock, toBlock].includes(log.blockNumber);
          return { ...log, blockTimestamp: toQuantity(isEnd ? time : time - 1) };
        });
      return { kind: "logs", change };
    });
    node.fault(lie);
    const source = await openSource([node.url], { random: () => 0.1 });
    const follower = new ChainFollower(source, 0);
    await follower.untilTip(3_999);
    follower.assertEquals(chain, isOurs);
    assert.ok(source.status.endpoints.some(({ metrics }) => metrics.invalid_responses > 0));
  });

  const lasting: Record<string, faults.FaultHook> = {
    "no logs": faults.noLogs,
    "a log twice": faults.duplicateLog,
    "a log of another block": faults.logOfAnotherBlock,
    "a log of another fork": faults.logOfAnotherFork,
    "a removed log": faults.removedLog,
  };
  for (const [name, hook] of Object.entries(lasting)) {
    test(`R4: ${name} from one endpoint of two`, async () => {
      const chain = buildBlocks(specs(600));
      const [good, bad] = [await openNode(chain), await openNode(chain)];
      for (const node of [good, bad]) node.setHead(590);
      bad.fault(hook);
      const source = await openSource([bad.url, good.url]);
      const follower = new ChainFollower(source, 0);
      await follower.untilTip(590);
      for (const node of [good, bad]) node.setHead(599);
      await follower.untilTip(599);
      follower.assertEquals(chain, isOurs);
    });
  }

  test("R6: the only endpoint is read although it answers null to every tenth header", async () => {
    const chain = buildBlocks(specs(1_000));
    const node = await openNode(chain);
    const random = new SeededRandom(testSeed);
    node.fault(
      faults.on("eth_getBlockByNumber", () => (random.chance(0.1) ? faults.nullResult : null)),
    );
    const follower = new ChainFollower(await openSource([node.url]), 0);
    await follower.untilTip(999);
    follower.assertEquals(chain, isOurs);
  });

  test("R4: logs that the only endpoint omits at the head are read from its receipts", async () => {
    const { node, chain, source, follower } = await openScene(60, { visible: 30 });
    await follower.untilTip(29);
    node.fault(faults.noLogs);
    node.setHead(59);
    await follower.untilTip(59);
    follower.assertEquals(chain, isOurs);
    assert((source.status.endpoints[0]?.metrics.invalid_responses ?? 0) > 0);
  });

  test("R4: if the only endpoint sends logs twice, single blocks are read from their receipts", async () => {
    const { chain, follower } = await openScene(40, {
      prepare: (node) => node.fault(faults.duplicateLog),
    });
    await follower.untilTip(39);
    follower.assertEquals(chain, isOurs);
  });

  test("R4: if the only endpoint sends logs out of order, receipts are read, and the log says why", async () => {
    const { chain, follower, reasons } = await openScene(40, {
      prepare: (node) => node.fault(faults.reversedLogs),
    });
    await follower.untilTip(39);
    follower.assertEquals(chain, isOurs);
    assert(reasons.some((reason) => reason.endsWith("is out of order")));
  });

  test("R3, R4: a wrong hash of a final block without logs is not emitted, and the source goes on", async () => {
    const { chain, source, follower } = await openScene(400, {
      prepare: (node) => {
        const lie = { nth: 1, name: "hash", value: `0x${"ee".repeat(32)}` };
        // The last block of the first range.
        const isLast = (number: number) => number === chainLimits.rangeBlocksStart - 1;
        node.fault(faults.times(1, faults.wrongHeaders(isLast, lie)));
      },
    });
    await follower.untilTip(399);
    follower.assertEquals(chain, isOurs);
    assert(source.status.endpoints.some(({ metrics }) => metrics.invalid_responses > 0));
  });

  test("R4: if every fifth header above finality is wrong, smaller batches get correct headers", async () => {
    const { chain, follower } = await openScene(50, {
      finality: { behindHead: 30 },
      prepare: (node) => {
        const isAbove = (number: number) => number >= 20 && number < 49;
        const lie = { nth: 5, name: "hash", value: `0x${"ee".repeat(32)}` };
        node.fault(faults.wrongHeaders(isAbove, lie));
      },
    });
    await follower.untilTip(49);
    follower.assertEquals(chain, isOurs);
  });

  test("R4: headers without a bloom are refused, and the log names the missing field", async () => {
    const { reasons } = await openScene(10, {
      prepare: (node) => {
        node.fault(faults.wrongHeaders(() => true, { nth: 1, name: "logsBloom" }));
      },
    });
    assert(reasons.includes("a header has no logsBloom, or an invalid one"));
  });

  test("R4: receipts of an endpoint that has another time for a block do not change its time", async () => {
    const { node, source, follower } = await openScene(40);
    await follower.untilTip(39);
    for (const isFinal of [true, false]) {
      const block = [...follower.blocks.values()].at(isFinal ? 0 : -1);
      assert(block !== undefined);
      const lie = { nth: 1, name: "timestamp", value: toQuantity(block.timestamp + 1_000) };
      const end = node.fault(faults.wrongHeaders((number) => number === block.number, lie));
      const { timestamp, logs } = await source.prove({ ...block, logs: [] }, isFinal);
      end();
      assert.deepEqual([timestamp, logs], [block.timestamp, block.logs]);
    }
  });

  const unsupported = new RpcError(-32601, "the method eth_getBlockReceipts does not exist");
  const unaddressed = new RpcError(-32602, "please specify an address in your request");
  for (const [how, refusal] of [
    ["all logs of a block", null],
    ["the receipts of its transactions", unaddressed],
  ] as const) {
    test(`R4: if a node has no receipts by block, ${how} must account for the bloom`, async () => {
      const { node, chain, follower } = await openScene(60, { visible: 30 });
      await follower.untilTip(29);
      node.fault(faults.on("eth_getBlockReceipts", () => ({ kind: "error", error: unsupported })));
      node.fault((request, view) => {
        if (request.method !== "eth_getLogs") return null;
        const isFiltered = (request.params[0] as { address?: unknown }).address !== undefined;
        if (isFiltered) return faults.noLogs(request, view);
        return refusal === null ? null : { kind: "error", error: refusal };
      });
      node.setHead(59);
      await follower.untilTip(59);
      follower.assertEquals(chain, isOurs);
      assert.equal(node.calls.has("eth_getTransactionReceipt"), refusal !== null);
    });
  }
});

describe("batches", { concurrency: 4 }, () => {
  after(closeOpened);

  const refusals = [...Object.keys(faults.batchRefusals), "firstOnly"] as faults.BatchRefusal[];
  for (const refusal of refusals) {
    for (const [name, callsMax] of [
      ["all of them", 0],
      ["those of more than two calls", 2],
    ] as const) {
      // A node that answers batches of two calls and ignores larger ones looks like a slow node.
      if (refusal === "silence" && callsMax > 0) continue;
      test(`R6: a node that refuses batches (${name}) with "${refusal}" is still read`, async () => {
        const { node, chain, source, follower, reasons } = await openScene(160, {
          visible: 150,
          prepare: (node) => node.limitBatches(callsMax, refusal),
        });
        await follower.untilTip(149);
        node.setHead(159);
        await follower.untilTip(159);
        follower.assertEquals(chain, isOurs);
        const [endpoint] = source.status.endpoints;
        assert.equal(endpoint?.metrics.invalid_responses, 0);
        // A refused batch is not an error, but a request can time out on a busy machine.
        for (const reason of reasons) assert.match(reason, /^no answer within [0-9]+ ms$/);
      });
    }
  }

  test("R6: a node that refuses batches over a WebSocket is still read, header by header", async () => {
    const { node, chain, follower } = await openScene(120, {
      visible: 100,
      useWebSocket: true,
      prepare: (node) => node.limitBatches(0, "unclear"),
    });
    await follower.untilTip(99);
    node.setHead(119);
    await follower.untilTip(119);
    follower.assertEquals(chain, isOurs);
  });
});

describe("blooms", () => {
  after(closeOpened);

  /** Our address with another topic, and a foreign address with ours: the bloom contains our address and topic. */
  const misleading = {
    logs: [
      { address: ours, topics: [otherTopic] },
      { address: foreign, topics: [topic] },
    ],
  };

  test("R4: a false positive is resolved by receipts, and counted", async () => {
    const chain = buildBlocks([...specs(10), ...Array.from({ length: 5 }, () => misleading)]);
    const node = await openNode(chain);
    node.setHead(9);
    const source = await openSource([node.url]);
    const follower = new ChainFollower(source, 0);
    await follower.untilTip(9);
    node.setHead(14);
    await follower.untilTip(14);
    assert.equal(source.status.bloomFalsePositives, 5);
    assert.equal(source.status.endpoints[0]?.metrics.invalid_responses, 0);
  });

  test("R4: if two endpoints both return no logs although the bloom matches, receipts decide", async () => {
    const chain = buildBlocks([...specs(10), misleading, ...specs(3)]);
    const nodes = [await openNode(chain), await openNode(chain)];
    for (const node of nodes) node.setHead(9);
    const source = await openSource(nodes.map(({ url }) => url));
    const follower = new ChainFollower(source, 0);
    await follower.untilTip(9);
    for (const node of nodes) node.fault(faults.noLogs);
    for (const node of nodes) node.setHead(13);
    await follower.untilTip(13);
    follower.assertEquals(chain, isOurs);
    assert(source.status.bloomFalsePositives >= 1);
  });

  for (const when of ["at the head", "in a range"] as const) {
    test(`R4: an omitted log ${when} is noticed by the bloom`, async () => {
      const mine = [topic, thirdTopic].map((one) => ({ address: ours, topics: [one] }));
      const before = Array.from({ length: 10 }, () => ({}));
      const chain = buildBlocks([...before, { logs: mine }, {}, { logs: mine }, {}]);
      const node = await openNode(chain);
      if (when === "at the head") node.setHead(9);
      const filter = { addresses: [ours], topics0: [topic, thirdTopic] };
      node.fault(faults.lostLog);
      const source = await openSource([node.url], { filter });
      const follower = new ChainFollower(source, 0);
      if (when === "at the head") await follower.untilTip(9);
      node.setHead(13);
      await follower.untilTip(13);
      follower.assertEquals(chain, ({ address, topics }) => {
        return address === ours && (topics[0] === topic || topics[0] === thirdTopic);
      });
    });
  }

  test("before Madhugiri, logs that the bloom does not contain are accepted: Polygon's state syncs", async () => {
    const honest = buildBlocks(specs(30));
    const noBloom = `0x${"0".repeat(512)}`;
    const chain = honest.map((block) => ({
      ...block,
      header: { ...block.header, logsBloom: noBloom },
    }));
    const node = await openNode(chain);
    const follower = new ChainFollower(await openSource([node.url]), 0);
    await follower.untilTip(29);
    follower.assertEquals(chain, isOurs);
  });

  test("R4: from Madhugiri on, an invented log at the head is replaced by the receipts", async () => {
    const firstNumber = allLogsInBloomFrom;
    const mine = { address: ours, topics: [topic] };
    const chain = buildBlocks(
      Array.from({ length: 20 }, () => ({ logs: [mine] })),
      { firstNumber },
    );
    const node = await openNode(chain);
    node.setHead(firstNumber + 9);
    const source = await openSource([node.url], { startBlock: firstNumber });
    const follower = new ChainFollower(source, firstNumber);
    await follower.untilTip(firstNumber + 9);
    node.fault(faults.inventedLog);
    node.setHead(firstNumber + 19);
    await follower.untilTip(firstNumber + 19);
    follower.assertEquals(chain, isOurs);
  });

  test("from Madhugiri on, the logs of a state sync are read from its receipt, of type 0x7f", async () => {
    const firstNumber = allLogsInBloomFrom;
    const mine = { address: ours, topics: [topic] };
    const chain = buildBlocks(
      Array.from({ length: 12 }, () => ({ logs: [mine, { ...mine, transaction: "state sync" }] })),
      { firstNumber },
    );
    const node = await openNode(chain);
    node.setHead(firstNumber + 5);
    const source = await openSource([node.url], { startBlock: firstNumber });
    const follower = new ChainFollower(source, firstNumber);
    await follower.untilTip(firstNumber + 5);
    node.fault(faults.noLogs);
    node.setHead(firstNumber + 11);
    await follower.untilTip(firstNumber + 11);
    follower.assertEquals(chain, isOurs);
  });
});

describe("WebSockets", { concurrency: 4 }, () => {
  after(closeOpened);

  test("R6: an announced head is read immediately", async () => {
    const { node, chain, follower } = await openScene(120, { visible: 20, useWebSocket: true });
    await follower.untilTip(19);
    const latencies: number[] = [];
    for (let head = 20; head < 120; head += 1) {
      const startedMs = performance.now();
      node.setHead(head);
      await follower.untilTip(head);
      latencies.push(performance.now() - startedMs);
    }
    follower.assertEquals(chain, isOurs);
    const median = latencies.toSorted((one, other) => one - other)[50] ?? 0;
    // If heads were polled, each would take a second on average: half of a block time.
    assert(median < 500, `the median was ${median} ms`);
  });

  for (const [name, break_] of [
    ["silent", (node: ScriptedNode) => node.silenceHeads(true)],
    ["half-open", (node: ScriptedNode) => node.freezeSockets()],
    ["cut", (node: ScriptedNode) => node.dropSockets()],
  ] as const) {
    test(`R6: a socket that is ${name} does not stop the source`, async () => {
      const { node, chain, follower } = await openScene(60, { visible: 20, useWebSocket: true });
      await follower.untilTip(19);
      break_(node);
      for (let head = 20; head < 60; head += 1) node.setHead(head);
      await follower.untilTip(59);
      follower.assertEquals(chain, isOurs);
    });
  }
});

describe("wrong chains and failed starts", () => {
  after(closeOpened);

  test("an endpoint of another chain is a configuration error", async () => {
    const chain = buildBlocks(specs(3));
    const [right, wrong] = [await openNode(chain), await openNode(chain, 1)];
    await assert.rejects(openSource([right.url, wrong.url]), (error) => {
      assert(error instanceof WrongChainError);
      assert.match(error.message, /127\.0\.0\.1:\d+ serves chain 1, not chain 137/);
      return true;
    });
  });

  test("an endpoint that is found later to serve another chain is not used", async () => {
    const chain = buildBlocks(specs(20));
    const right = [await openNode(chain), await openNode(chain)];
    const wrong = await openNode(chain, 1);
    wrong.fault(faults.times(1, () => faults.badGateway));
    const source = await openSource([...right, wrong].map(({ url }) => url));
    const follower = new ChainFollower(source, 0);
    await follower.untilTip(19);
    await waitFor("the refusal", async () => wrong.calls.get("eth_chainId") === 2 || null);
    assert.equal(wrong.calls.get("eth_getLogs"), undefined);
  });

  test("R2: a finalized block from a node that serves another chain for a while is ignored", async () => {
    const chain = buildBlocks(specs(120));
    const [right, mixed] = [await openNode(chain), await openNode(chain)];
    for (const node of [right, mixed]) node.setHead(99);
    const source = await openSource([mixed.url, right.url]);
    const follower = new ChainFollower(source, 0);
    await follower.untilTip(99);
    const header = buildBlocks(specs(1), { firstNumber: 5_000, salt: "another" })[0]?.header;
    const isOfOther = ({ method, params: [tag] }: RpcRequest) =>
      method === "eth_chainId" || tag === "latest" || tag === "finalized";
    const lift = mixed.fault((request) => {
      if (!isOfOther(request)) return null;
      const json = request.method === "eth_chainId" ? '"0x1"' : JSON.stringify(header);
      return { kind: "result", json };
    });
    const badAnswers = source.status.endpoints[0]?.metrics.invalid_responses ?? 0;
    await waitFor("the mismatch", async () => {
      return (source.status.endpoints[0]?.metrics.invalid_responses ?? 0) > badAnswers || null;
    });
    lift();
    for (const node of [right, mixed]) node.setHead(119);
    await follower.until(({ finalized }) => finalized === 117);
    assert.equal(source.status.head?.number, 119);
    follower.assertEquals(chain, isOurs);
  });

  test("the source ends with an error if no endpoint serves the right chain", async () => {
    const node = await openNode(buildBlocks(specs(20)), 1);
    node.fault(faults.times(1, () => faults.badGateway));
    const follower = new ChainFollower(await openSource([node.url]), 0);
    await follower.until(({ isOver }) => isOver);
    assert(follower.failure instanceof WrongChainError);
  });

  test("R3: the source stops if the node no longer has a stored final block", async () => {
    const chain = buildBlocks(specs(30));
    const node = await openNode(buildBlocks(specs(30), { salt: "another" }));
    const source = await openSource([node.url]);
    const follower = new ChainFollower(source, null, getTimed(chain[10]));
    await follower.until(({ isOver }) => isOver);
    assert(follower.failure instanceof ReorgBeyondFinalityError);
    assert.equal(follower.tip, -1);
  });
});

test("an endpoint that cannot be reached at the start is a warning, not an error", async () => {
  const placeholder = createServer();
  await new Promise<void>((resolve) => placeholder.listen(0, "127.0.0.1", resolve));
  const { port } = placeholder.address() as AddressInfo;
  await new Promise((resolve) => placeholder.close(resolve));
  const source = await openSource([`http://127.0.0.1:${port}/secret-path`]);
  assert.deepEqual(source.status.warnings, ["no_endpoint"]);
  assert.equal(source.status.endpoints[0]?.host, `127.0.0.1:${port}`);
  assert.doesNotMatch(JSON.stringify(source.status), /secret/);
});
