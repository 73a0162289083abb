/**
 * R4 with a single endpoint whose receipts are odd for reasons outside our contracts: no block stops indexing, no log is
 * lost, doubled or moved.
 */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { pino } from "pino";
import type { Address, Hash } from "../../src/base/ids.ts";
import { openLog } from "../../src/base/log.ts";
import { ChainSource, type ChainSourceOptions } from "../../src/chain/sync/chain-source.ts";
import { buildBlocks, type LogSpec } from "../support/build-blocks.ts";
import { ChainFollower } from "../support/chain-follower.ts";
import * as faults from "../support/faults.ts";
import { readFixture } from "../support/read-fixture.ts";
import { answer, RpcError } from "../support/scripted-answers.ts";
import type { RpcLog, ScriptedBlock } from "../support/scripted-block.ts";
import { ScriptedNode } from "../support/scripted-node.ts";

const ours = `0x${"aa".repeat(20)}` as Address;
const alsoOurs = `0x${"ab".repeat(20)}` as Address;
const foreign = `0x${"bb".repeat(20)}`;
const topic = `0x${"11".repeat(32)}` as Hash;
const otherTopic = `0x${"22".repeat(32)}`;
const filter = { addresses: [ours, alsoOurs], topics0: [topic] };
const isOurs = ({ address, topics }: RpcLog) => address === ours && topics[0] === topic;

/** The bloom of these logs also has a contract of ours that logged another event. */
const mixed: readonly LogSpec[] = [
  { address: foreign, topics: [otherTopic], transaction: "one" },
  { address: alsoOurs, topics: [otherTopic], transaction: "one" },
  { address: ours, topics: [topic], transaction: "two" },
  { address: ours, topics: [topic], transaction: "two" },
];
/** No log of this block is wanted, though its bloom has an address and a topic of ours. */
const misleading: readonly LogSpec[] = [
  { address: ours, topics: [otherTopic], transaction: "one" },
  { address: foreign, topics: [topic], transaction: "two" },
];

type Receipt = { transactionHash: string; transactionIndex: string; logs: RpcLog[] | null };
type Change = (receipts: Receipt[]) => unknown;

const closers: (() => Promise<void> | void)[] = [];
after(async () => {
  for (const close of closers.toReversed()) await close();
});

async function openScene(
  prepare: (node: ScriptedNode, chain: readonly ScriptedBlock[]) => void,
  options: Partial<ChainSourceOptions> = {},
) {
  const plain = Array.from({ length: 6 }, () => ({ logs: mixed.slice(2) }));
  const odd = [{ logs: mixed }, { logs: misleading }];
  const kinds = [...plain, ...odd, ...plain, ...odd, ...odd, ...plain];
  // Each block has transactions of its own.
  const chain = buildBlocks(
    kinds.map(({ logs }, number) => ({
      logs: logs.map((log) => ({ ...log, transaction: `${number} ${log.transaction}` })),
    })),
  );
  const node = await ScriptedNode.open({ blocks: chain, chainId: 137 });
  closers.push(() => node.close());
  node.setFinalized(10);
  prepare(node, chain);
  const log = openLog({ level: "silent" });
  const fixed = { urls: [node.url], chainId: 137, startBlock: 0, filter, log };
  const source = await ChainSource.open({ ...fixed, ...options }, ({ blocks }) => blocks);
  closers.push(() => source.close());
  return { node, chain, source, follower: new ChainFollower(source, 0) };
}

/** Changes the answers to `eth_getBlockReceipts`. */
function changeReceipts(change: Change): faults.FaultHook {
  return faults.on("eth_getBlockReceipts", (request, view) => ({
    kind: "result",
    json: JSON.stringify(change(JSON.parse(answer(view, request)) as Receipt[])),
  }));
}

const stateSync = { address: `0x${"0".repeat(36)}1001`, topics: [`0x${"77".repeat(32)}`] };

/** Appends the receipt of a state-sync transaction, whose log has the index that `index` gives it. */
function withStateSync(index: (last: number) => string | null, transactionIndex = "0x9"): Change {
  return (receipts) => {
    const last = receipts.at(-1)?.logs?.at(-1);
    const transactionHash = `0x${"5c".repeat(32)}`;
    const logIndex = index(Number(last?.logIndex ?? 0));
    const log = { ...last, ...stateSync, transactionHash, transactionIndex, logIndex };
    return [...receipts, { transactionHash, transactionIndex, logs: [log] }];
  };
}

const oddReceipts: Readonly<Record<string, Change>> = {
  "repeat an index in a state-sync receipt": withStateSync((last) => `0x${last.toString(16)}`),
  "have index 0 in a state-sync receipt": withStateSync(() => "0x0"),
  "put a state-sync transaction first": withStateSync(() => "0x0", "0x0"),
  "have a state-sync log without an index": withStateSync(() => null),
  "have an unreadable state-sync log": (receipts) => [...receipts, { logs: [null, { topics: 7 }] }],
  "begin at 0 in each receipt": (receipts) =>
    receipts.map(({ logs, ...receipt }) => ({
      ...receipt,
      logs: logs?.map((log, index) => ({ ...log, logIndex: `0x${index.toString(16)}` })),
    })),
  "lack the first receipt": (receipts) => receipts.slice(1),
  "have a receipt without logs": (receipts) =>
    receipts.with(0, { ...receipts[0], logs: null } as Receipt),
  "have a null receipt": (receipts) => [null, ...receipts.slice(1)],
  "are null": () => null,
  "are an empty list": () => [],
  "are an object": () => ({}),
};

const refused = faults.on("eth_getBlockReceipts", () => ({
  kind: "error",
  error: new RpcError(-32_000, "internal error"),
}));

/** Refuses `eth_getLogs` without an address. */
const needsAddress: faults.FaultHook = ({ method, params }) => {
  const isPlain = (params[0] as { address?: unknown } | undefined)?.address === undefined;
  if (method !== "eth_getLogs" || !isPlain) return null;
  return { kind: "error", error: new RpcError(-32_602, "please specify an address") };
};

const noTransactions = faults.on("eth_getBlockByHash", (request, view) => ({
  kind: "result",
  json: JSON.stringify({ ...(JSON.parse(answer(view, request)) as object), transactions: null }),
}));

describe("R4: receipts of the only endpoint that", { concurrency: 4 }, () => {
  for (const [name, change] of Object.entries(oddReceipts)) {
    test(name, async () => {
      const { chain, source, follower } = await openScene((node) => {
        node.fault(changeReceipts(change));
      });
      await follower.untilTip(chain.length - 1);
      follower.assertEquals(chain, isOurs);
      assert.equal(source.status.endpoints[0]?.metrics.invalid_responses, 0);
      assert.deepEqual(source.status.unprovenBlocks, []);
    });
  }

  test("exist one by one only, and not of state-sync transactions", async () => {
    const { node, chain, follower } = await openScene((scripted) => {
      scripted.fault(refused);
      scripted.fault(needsAddress);
      scripted.fault(
        faults.on("eth_getBlockByHash", (request, view) => {
          const block = JSON.parse(answer(view, request)) as { transactions: string[] };
          block.transactions.push(`0x${"5c".repeat(32)}`);
          return { kind: "result", json: JSON.stringify(block) };
        }),
      );
    });
    await follower.untilTip(chain.length - 1);
    follower.assertEquals(chain, isOurs);
    assert(node.calls.has("eth_getTransactionReceipt"));
  });

  for (const name of ["begin at 0 in each receipt", "are null", "are an empty list"]) {
    test(`${name}, without another way: the block is taken as it is, with a warning`, async () => {
      const warned: unknown[] = [];
      const write = (line: string) => {
        const { block } = JSON.parse(line) as { readonly block?: number };
        if (block !== undefined) warned.push(block);
      };
      const { chain, source, follower } = await openScene(
        (node) => {
          for (const hook of [changeReceipts(oddReceipts[name] ?? assert.fail()), needsAddress])
            node.fault(hook);
          node.fault(noTransactions);
        },
        { log: pino({ level: "warn" }, { write }) },
      );
      await follower.untilTip(chain.length - 1);
      follower.assertEquals(chain, isOurs);
      assert.equal(source.status.endpoints[0]?.metrics.invalid_responses, 0);
      assert(!source.status.warnings.includes("no_endpoint"));
      assert(source.status.unprovenBlocks.length > 0);
      assert.deepEqual(warned, source.status.unprovenBlocks);
      // A match of such a block that does not reconcile does not stop indexing either.
      const block = [...follower.blocks.values()].at(-1) ?? assert.fail();
      assert.deepEqual((await source.prove(block, false)).logs, block.logs);
    });
  }
});

test("R4: a recorded block whose state-sync receipt repeats an index has no logs of ours", async () => {
  const recorded = readFixture("receipts-repeat-an-index.json.gz") as {
    readonly eth_getBlockByHash: ScriptedBlock["header"];
    readonly eth_getBlockReceipts: readonly Receipt[];
  };
  const { eth_getBlockByHash: header, eth_getBlockReceipts: receipts } = recorded;
  const logs = receipts.flatMap((receipt) => receipt.logs ?? []).slice(0, 2);
  const number = Number(header["number"]);
  const [hash, parentHash] = [String(header["hash"]), String(header["parentHash"])];
  const timestamp = Number(header["timestamp"]);
  const first: ScriptedBlock = { number, hash, parentHash, timestamp, header, logs };
  const blocks = [first, ...buildBlocks([{}, {}, {}], { after: first })];
  const node = await ScriptedNode.open({ blocks, chainId: 137 });
  closers.push(() => node.close());
  node.fault(
    faults.on("eth_getBlockReceipts", ({ params }) =>
      params[0] === hash ? { kind: "result", json: JSON.stringify(receipts) } : null,
    ),
  );
  const addresses = [logs[1]?.address as Address];
  const topics0 = [logs[0]?.topics[0] as Hash];
  const log = openLog({ level: "silent" });
  const options = { urls: [node.url], chainId: 137, startBlock: number, log };
  const source = await ChainSource.open(
    { ...options, filter: { addresses, topics0 } },
    (range) => range.blocks,
  );
  closers.push(() => source.close());
  const follower = new ChainFollower(source, number);
  await follower.untilTip(number + 3);
  assert.equal(follower.blocks.size, 0);
  assert.equal(source.status.endpoints[0]?.metrics.invalid_responses, 0);
});
