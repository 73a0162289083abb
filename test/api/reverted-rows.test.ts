/** Pages of markets of which some have no row any more, because of a reorg. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { formatConditionId } from "../../src/rows/wire-format.ts";
import { MarketList } from "../../src/views/markets/market-list.ts";
import { buildChain } from "../support/generate-chain.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { getFacts } from "../support/store-chain.ts";

const plans = Array.from({ length: 20 }, () => ({
  secondsLater: 10,
  reports: true,
  transactions: [],
}));
const facts = getFacts(buildChain(plans));
const server = await DataServer.open({ facts, finalBlocks: 14, unfinalizedBlocks: 6 });
after(() => server.close());

function isFinal({ created_block: block }: Row): boolean {
  return Number(block) <= server.finalBlock;
}

test("200: many rows that are gone are replaced in few reads of the list", async (t) => {
  const path = "/v1/markets?sort=created_at&order=asc";
  const { data: all } = await server.getPage(`${path}&limit=100`);
  const [first, second, ...rest] = all.map(({ id }) => id);
  const gone = new Set<unknown>(rest.slice(0, 7));
  const { directory } = server.state;
  const market = directory.market.bind(directory);
  t.mock.method(directory, "market", (id: Parameters<typeof market>[0]) =>
    gone.has(formatConditionId(id)) ? null : market(id),
  );
  const { mock } = t.mock.method(MarketList.prototype, "page");
  const page = await server.getPage(`${path}&limit=2`);
  assert.deepEqual(
    page.data.map(({ id }) => id),
    [first, second],
  );
  assert(page.pagination.has_more);
  // Three places are read at a time: one more than the page has.
  assert.equal(mock.callCount(), 4);
});

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
  const getIds = (rows: readonly Row[]) => rows.map(({ id }) => id);
  assert.deepEqual(getIds(rows), getIds([...all.slice(0, 1), ...all.filter(isFinal)]));
});
