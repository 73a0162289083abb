import assert from "node:assert/strict";
import { test } from "node:test";
import { buildBlocks } from "../../../test/support/build-blocks.ts";
import { cleanUp } from "../../../test/support/clean-up.ts";
import { on } from "../../../test/support/faults.ts";
import { RpcError } from "../../../test/support/scripted-answers.ts";
import { ScriptedNode } from "../../../test/support/scripted-node.ts";
import { chainLimits } from "../../base/config/limits.ts";
import type { Address, Hash } from "../../base/ids.ts";
import { openLog } from "../../base/log.ts";
import { systemClock } from "../../base/time/clock.ts";
import { Endpoint } from "../rpc/endpoint.ts";
import { EndpointPool } from "../rpc/endpoint-pool.ts";
import { HttpTransport } from "../rpc/http-transport.ts";
import { BlockLogs } from "../verify/block-logs.ts";
import { fetchHeader } from "../verify/fetch-headers.ts";
import { deriveLogFilter } from "../verify/log-filter.ts";
import { RangeFetcher } from "./range-fetcher.ts";

const blocks = buildBlocks(Array.from({ length: 1_000 }, () => ({})));
const context = {
  clock: systemClock,
  random: () => 0.99, // the best endpoint is always tried first
  log: openLog({ level: "silent" }),
  signal: new AbortController().signal,
};

test("R5: ranges grow although the best endpoint has pruned the blocks", async (t) => {
  const nodes = [await ScriptedNode.open({ blocks }), await ScriptedNode.open({ blocks })];
  const endpoints = nodes.map(
    ({ url }, index) =>
      new Endpoint({
        url: new URL(url),
        host: `node ${index}`,
        chainId: 137,
        callsPerSecondMax: null,
        openTransport: (address) => HttpTransport.open(address),
        context,
      }),
  );
  cleanUp(t, async () => {
    for (const endpoint of endpoints) endpoint.close();
    for (const node of nodes) await node.close();
  });
  for (const [index, endpoint] of endpoints.entries()) {
    await endpoint.verify();
    const head = await fetchHeader(endpoint, 999);
    assert(head !== null);
    endpoint.recordView({ head, final: head, finalMax: 999, warning: null });
    endpoint.recordLatency(1 + index * 1_000);
  }
  const pruned = new RpcError(4444, "pruned history unavailable");
  nodes[0]?.fault(on("eth_getLogs", () => ({ kind: "error", error: pruned })));
  const pool = new EndpointPool(endpoints, context);
  pool.agree({ ...pool.agreement, endpoints });
  const addresses = [`0x${"aa".repeat(20)}` as Address];
  const filter = deriveLogFilter({ addresses, topics0: [`0x${"11".repeat(32)}` as Hash] });
  const blockLogs = new BlockLogs(pool, filter);
  const fetcher = new RangeFetcher({ pool, blockLogs }, () => null);
  assert.equal(fetcher.blocksAtOnce, chainLimits.rangeBlocksStart);
  let from = 0;
  for (let turn = 0; turn < 5; turn += 1) {
    const to: number = from + fetcher.blocksAtOnce - 1;
    const fetched = await fetcher.fetch({ from, to });
    assert.deepEqual(
      fetched.map(({ endpoint }) => endpoint.host),
      ["node 1"],
    );
    from = to + 1;
  }
  assert(fetcher.blocksAtOnce > chainLimits.rangeBlocksStart * 1.5, `${fetcher.blocksAtOnce}`);
});
