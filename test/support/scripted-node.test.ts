import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { WebSocket } from "ws";
import { buildBlocks, getBloom } from "./build-blocks.ts";
import { cleanUp } from "./clean-up.ts";
import {
  badGateway,
  duplicateLog,
  type FaultHook,
  hang,
  logOfAnotherBlock,
  logOfAnotherFork,
  lostLog,
  noLogs,
  nullResult,
  on,
  rangeCap,
  removedLog,
  reset,
  resultCap,
  times,
  tooManyRequests,
  truncated,
  unhealthy,
} from "./faults.ts";
import { readRecording } from "./recorded/recording.ts";
import { ScriptedNode } from "./scripted-node.ts";

const alice = `0x${"a1".repeat(20)}`;
const bob = `0x${"b0".repeat(20)}`;
const topic = (digit: string) => `0x${digit.repeat(64)}`;
const blocks = buildBlocks([
  {},
  {
    logs: [
      { address: alice, topics: [topic("1")] },
      { address: bob, topics: [topic("2")] },
    ],
  },
  {},
  { logs: [{ address: alice, topics: [topic("2"), topic("3")], transaction: "t" }] },
]);

async function openNode(t: TestContext): Promise<ScriptedNode> {
  const node = await ScriptedNode.open({ blocks });
  cleanUp(t, () => node.close());
  return node;
}

function post(node: ScriptedNode, body: unknown): Promise<Response> {
  return fetch(node.url, { method: "POST", body: JSON.stringify(body) });
}

type Answer = { result?: unknown; error?: { code: number; message: string } };

async function call(node: ScriptedNode, method: string, ...params: unknown[]): Promise<Answer> {
  const response = await post(node, { jsonrpc: "2.0", id: 1, method, params });
  return (await response.json()) as Answer;
}

async function getLogs(node: ScriptedNode, filter: object): Promise<Record<string, string>[]> {
  return (await call(node, "eth_getLogs", filter)).result as Record<string, string>[];
}

const everything = { fromBlock: "0x0", toBlock: "latest" };

test("the bloom of built blocks is computed like that of the recorded chain", () => {
  const recorded = readRecording("contracts-a").blocks.filter((block) => block.logs.length > 0);
  for (const block of recorded.slice(0, 50)) {
    assert.equal(getBloom(block.logs), block.header["logsBloom"]);
  }
});

test("equal specs build equal chains, and another salt builds a rival chain", () => {
  const specs = [{}, { logs: [{ address: alice, topics: [topic("1")] }] }];
  assert.deepEqual(buildBlocks(specs), buildBlocks(specs));
  assert.notEqual(buildBlocks(specs, { salt: "b" })[1]?.hash, buildBlocks(specs)[1]?.hash);
});

test("blocks are found by number, tag and hash, and only up to the head", async (t) => {
  const node = await openNode(t);
  node.setHead(2);
  node.setFinalized(1);
  const getNumber = async (tag: string) => {
    const { result } = await call(node, "eth_getBlockByNumber", tag, false);
    return result === null ? null : (result as { number: string }).number;
  };
  assert.deepEqual(
    await Promise.all(["latest", "finalized", "safe", "earliest", "0x2"].map(getNumber)),
    ["0x2", "0x1", "0x1", "0x0", "0x2"],
  );
  assert.equal(await getNumber("0x3"), null);
  assert.equal((await call(node, "eth_getBlockByHash", blocks[3]?.hash, false)).result, null);
  assert.equal((await call(node, "eth_blockNumber")).result, "0x2");
  node.setFinalized(null);
  assert.match(
    (await call(node, "eth_getBlockByNumber", "finalized")).error?.message ?? "",
    /not found/,
  );
});

test("logs are filtered by range, block hash, address and topics", async (t) => {
  const node = await openNode(t);
  assert.equal((await getLogs(node, everything)).length, 3);
  assert.equal(
    (await getLogs(node, { ...everything, address: [alice.toUpperCase().replace("X", "x")] }))
      .length,
    2,
  );
  assert.equal(
    (await getLogs(node, { ...everything, topics: [[topic("1"), topic("2")]] })).length,
    3,
  );
  assert.equal((await getLogs(node, { ...everything, topics: [null, topic("3")] })).length, 1);
  assert.equal((await getLogs(node, { blockHash: blocks[1]?.hash, address: bob })).length, 1);
  assert.equal((await getLogs(node, { fromBlock: "0x2", toBlock: "0x2" })).length, 0);
  const beyond = await call(node, "eth_getLogs", { fromBlock: "0x0", toBlock: "0x4" });
  assert.match(beyond.error?.message ?? "", /beyond current head/);
});

test("receipts contain the logs of their transactions", async (t) => {
  const node = await openNode(t);
  const receipts = (await call(node, "eth_getBlockReceipts", "0x1")).result as {
    logs: unknown[];
  }[];
  assert.deepEqual(
    receipts.map((receipt) => receipt.logs.length),
    [2],
  );
});

test("a batch is answered in order", async (t) => {
  const node = await openNode(t);
  const response = await post(node, [
    { id: 7, method: "eth_chainId", params: [] },
    { id: 8, method: "eth_what", params: [] },
  ]);
  const answers = (await response.json()) as (Answer & { id: number })[];
  assert.deepEqual(
    answers.map(({ id, result }) => [id, result]),
    [
      [7, "0x89"],
      [8, undefined],
    ],
  );
  assert.equal(node.calls.get("eth_chainId"), 1);
});

test("a fork replaces the newest blocks, and a replaced block is still found by its hash", async (t) => {
  const node = await openNode(t);
  const rival = buildBlocks([{}, {}, {}], {
    after: blocks[1] as (typeof blocks)[0],
    salt: "rival",
  });
  node.fork(rival);
  assert.equal(node.head, 4);
  assert.equal((await getLogs(node, everything)).length, 2);
  assert.notEqual((await call(node, "eth_getBlockByHash", blocks[3]?.hash, false)).result, null);
});

test("faults occur as often as scripted", async (t) => {
  const node = await openNode(t);
  node.fault(
    times(
      2,
      on("eth_blockNumber", () => badGateway),
    ),
  );
  node.fault(
    times(
      1,
      on("eth_blockNumber", () => tooManyRequests(3)),
    ),
  );
  const ask = () => post(node, { id: 1, method: "eth_blockNumber", params: [] });
  const answers = [await ask(), await ask(), await ask(), await ask()];
  assert.deepEqual(
    answers.map((response) => response.status),
    [502, 502, 429, 200],
  );
  assert.equal(answers[2]?.headers.get("retry-after"), "3");
  node.fault(() => truncated);
  await assert.rejects(call(node, "eth_chainId"), SyntaxError);
});

test("caps are reported in the words of providers", async (t) => {
  const node = await openNode(t);
  const lift = node.fault(rangeCap(2, "quicknode"));
  assert.equal((await getLogs(node, { fromBlock: "0x0", toBlock: "0x1" })).length, 2);
  assert.match(
    (await call(node, "eth_getLogs", everything)).error?.message ?? "",
    /limited to a 2 range/,
  );
  lift();
  node.fault(resultCap(2, "infura"));
  assert.match(
    (await call(node, "eth_getLogs", everything)).error?.message ?? "",
    /more than 2 results/,
  );
});

test("logs can be omitted, repeated or altered", async (t) => {
  const node = await openNode(t);
  const reported = async (hook: FaultHook) => {
    const lift = node.fault(hook);
    const logs = await getLogs(node, everything);
    lift();
    return logs;
  };
  assert.equal((await reported(noLogs)).length, 0);
  assert.equal((await reported(lostLog)).length, 2);
  assert.equal((await reported(duplicateLog)).length, 4);
  assert.equal((await reported(logOfAnotherBlock)).at(-1)?.["blockNumber"], "0x4");
  assert.notEqual((await reported(logOfAnotherFork)).at(-1)?.["blockHash"], blocks[3]?.hash);
  assert.equal((await reported(removedLog)).at(-1)?.["removed"], true);
  assert.equal((await reported(() => ({ kind: "behind", blocks: 1 }))).length, 2);
});

test("an answer can be missing, be cut off, be null or be an error", async (t) => {
  const node = await openNode(t);
  node.fault(
    times(
      1,
      on("eth_chainId", () => hang),
    ),
  );
  const signal = AbortSignal.timeout(50);
  const body = JSON.stringify({ id: 1, method: "eth_chainId", params: [] });
  await assert.rejects(fetch(node.url, { method: "POST", body, signal }), { name: "TimeoutError" });
  node.fault(
    times(
      1,
      on("eth_chainId", () => reset),
    ),
  );
  await assert.rejects(call(node, "eth_chainId"), TypeError);
  node.fault(
    times(
      1,
      on("eth_chainId", () => nullResult),
    ),
  );
  assert.equal((await call(node, "eth_chainId")).result, null);
  node.fault(
    times(
      1,
      on("eth_chainId", () => unhealthy),
    ),
  );
  assert.match((await call(node, "eth_chainId")).error?.message ?? "", /no backend/);
  assert.equal((await call(node, "eth_chainId")).result, "0x89");
});

test("subscribers receive new heads, also of forks, unless the node is silenced", async (t) => {
  const node = await openNode(t);
  node.setHead(1);
  const socket = new WebSocket(node.wsUrl);
  cleanUp(t, () => socket.terminate());
  const observed: string[] = [];
  const subscribed = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  socket.on("message", (data) => {
    const frame = JSON.parse((data as Buffer).toString()) as {
      id?: number;
      params?: { result: { number: string } };
    };
    if (frame.id === 1) subscribed.resolve();
    if (frame.id === 2) done.resolve();
    if (frame.params !== undefined) observed.push(frame.params.result.number);
  });
  const send = (id: number, method: string, params: unknown[]) =>
    socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  socket.on("open", () => send(1, "eth_subscribe", ["newHeads"]));
  await subscribed.promise;
  node.setHead(3);
  node.fork(buildBlocks([{}], { after: blocks[2] as (typeof blocks)[0], salt: "rival" }));
  node.silenceHeads(true);
  node.setHead(1);
  node.setHead(3);
  send(2, "eth_blockNumber", []);
  await done.promise;
  assert.deepEqual(observed, ["0x2", "0x3", "0x3"]);
});

test("a frozen socket stays open and sends no answer", async (t) => {
  const node = await openNode(t);
  const socket = new WebSocket(node.wsUrl);
  cleanUp(t, () => socket.terminate());
  const opened = Promise.withResolvers<void>();
  socket.on("open", opened.resolve);
  await opened.promise;
  const answers: unknown[] = [];
  socket.on("message", (data) => answers.push(data));
  node.freezeSockets();
  socket.send(JSON.stringify({ id: 1, method: "eth_chainId", params: [] }));
  // Later HTTP requests are answered, so the node had a chance to answer this one.
  for (let round = 0; round < 5; round += 1) await call(node, "eth_chainId");
  assert.equal(answers.length, 0);
  assert.equal(socket.readyState, WebSocket.OPEN);
});
