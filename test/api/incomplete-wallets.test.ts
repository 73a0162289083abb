/** Wallets of a service that begins in the middle of a chain: they have positions in markets of before, and in new ones. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { formatMicros } from "../../src/base/decimal.ts";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import { toMicros } from "../support/naive-filters.ts";
import { DataServer, readFacts } from "../support/open-data-server.ts";
import { getData } from "../support/open-test-server.ts";

const facts: readonly BlockFacts[] = readFacts("contracts-gen2").slice(150);
const server = await DataServer.open({ facts, finalBlocks: 700, unfinalizedBlocks: 200 });
after(() => server.close());

test("200: totals and profits are the sums of the complete positions", async () => {
  const rows = facts.slice(0, 700).flatMap(({ ledger }) => ledger);
  const kinds = new Set<string>();
  for (const address of new Set(rows.map(({ wallet }) => wallet))) {
    const path = `/v1/wallets/${address}`;
    const wallet = getData(await server.get(path));
    const positions = await server.getAll(`${path}/positions?status=all&limit=500`);
    const whole = positions.filter(({ complete }) => complete === true);
    const isKnown = whole.length > 0;
    kinds.add(whole.length === positions.length ? "all" : isKnown ? "some" : "none");
    assert.equal(wallet["complete"], whole.length === positions.length);
    assert.equal(wallet["positions_incomplete"], positions.length - whole.length);
    for (const name of ["value_usd", "realized_pnl", "unrealized_pnl", "unknown_proceeds_usd"]) {
      const total = whole.reduce((sum, row) => sum + toMicros(row[name] ?? "0"), 0n);
      assert.equal(wallet[name], isKnown ? formatMicros(total) : null, name);
    }
    const [last] = await server.getAll(`${path}/pnl?order=desc&limit=500`);
    assert.equal(last?.["complete"] ?? wallet["complete"], wallet["complete"]);
    assert.equal(last?.["cost_complete"] ?? wallet["cost_complete"], wallet["cost_complete"]);
    const realized = last?.["cumulative_realized_pnl"] ?? wallet["realized_pnl"];
    assert.equal(realized, wallet["realized_pnl"]);
  }
  assert(kinds.has("none") && kinds.has("some"), [...kinds].join());
});

test("200: positions are in the order of what their rows have, and those without it are last", async () => {
  const rows = facts.slice(0, 700).flatMap(({ ledger }) => ledger);
  for (const address of new Set(rows.map(({ wallet }) => wallet))) {
    const path = `/v1/wallets/${address}/positions?status=all`;
    const all = await server.getAll(path);
    const complete = all.filter((row) => row["complete"] === true);
    if (complete.length < 2 || complete.length === all.length) continue;
    for (const [sort, name] of Object.entries({
      value: "value_usd",
      total_pnl: "total_pnl",
      size: "size",
    })) {
      for (const order of ["asc", "desc"]) {
        const list = `${path}&sort=${sort}&order=${order}`;
        const values = (await server.getAll(`${list}&limit=2`)).map((row) => row[name] ?? null);
        const present = values.filter((value) => value !== null).map(toMicros);
        const sorted = present.toSorted((a, b) => Number(a - b));
        assert.deepEqual(present, order === "asc" ? sorted : sorted.toReversed(), list);
        assert(
          values.slice(present.length).every((value) => value === null),
          list,
        );
        assert.equal(values.length, all.length, list);
      }
    }
    return;
  }
  assert.fail("no wallet has both");
});
