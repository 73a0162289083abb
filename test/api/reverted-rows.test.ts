/** A page of markets of which a reorg reverts some while the page is made. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { buildChain } from "../support/generate-chain.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { factsOf } from "../support/store-chain.ts";

const plans = Array.from({ length: 20 }, () => ({
  secondsLater: 10,
  reports: true,
  transactions: [],
}));
const facts = factsOf(buildChain(plans));
const server = await DataServer.open({ facts, finalBlocks: 14, unfinalizedBlocks: 6 });
after(() => server.close());

function isFinal({ created_block: block }: Row): boolean {
  return Number(block) <= server.finalBlock;
}

test("200: further rows replace those that a reorg reverts while the page is made", async (t) => {
  const path = "/v1/markets?sort=created_at&order=desc";
  const { data: all } = await server.getPage(`${path}&limit=100`);
  const unfinalized = all.filter((row) => !isFinal(row)).length;
  assert(unfinalized >= 2 && all.length - unfinalized > unfinalized);
  const { directory } = server.state;
  const market = directory.market.bind(directory);
  let calls = 0;
  t.mock.method(directory, "market", (id: Parameters<typeof market>[0]) => {
    const found = market(id);
    calls += 1;
    if (calls === 1) {
      setImmediate(() => server.store.revert(server.finalBlock));
      // Longer than a slice, so that the other rows are made in a later turn.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    }
    return found;
  });
  const rows = await server.getAll(`${path}&limit=${unfinalized}`);
  const idsOf = (shown: readonly Row[]) => shown.map(({ id }) => id);
  assert.deepEqual(idsOf(rows), idsOf([...all.slice(0, 1), ...all.filter(isFinal)]));
});
