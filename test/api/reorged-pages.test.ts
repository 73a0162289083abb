/** A list of markets whose newest markets are replaced by a reorg between two of its pages. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { buildChain } from "../support/generate-chain.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { getFacts } from "../support/store-chain.ts";

/** Blocks of which some create markets. The first two are final. */
function toBlocks(reports: readonly boolean[], salt: string) {
  const plans = reports.map((isReporting) => ({
    secondsLater: 10,
    reports: isReporting,
    transactions: [],
  }));
  return getFacts(buildChain(plans, { salt }));
}

const facts = toBlocks([true, false, true, true, false], "");
const rival = toBlocks([true, false, false, true, false], "rival.");
const server = await DataServer.open({ facts, finalBlocks: 2, unfinalizedBlocks: 3 });
after(() => server.close());

function replaceBy(blocks: typeof facts): Promise<void> {
  return server.fork(server.finalBlock, blocks.slice(2));
}

function getNames(rows: readonly Row[]): string[] {
  return rows.map((row) => `${String(row["id"])} of ${String(row["created_at"])}`);
}

for (const limit of [1, 2, 3]) {
  test(`200: after a reorg, pages of ${limit} have every market that remains`, async () => {
    await replaceBy(facts);
    const path = "/v1/markets?sort=created_at&order=asc";
    const before = getNames((await server.getPage(path)).data);
    let pages = 1;
    const rows = await server.getAll(`${path}&limit=${limit}`, async () => {
      pages += 1;
      if (pages === 2) await replaceBy(rival);
    });
    const remaining = getNames((await server.getPage(path)).data);
    const [reverted, ...others] = before.filter((name) => !remaining.includes(name));
    assert(reverted !== undefined && others.length === 0);
    assert.notEqual(before.at(-1), reverted);
    assert.deepEqual(
      getNames(rows).filter((name) => name !== reverted),
      remaining,
    );
  });
}
