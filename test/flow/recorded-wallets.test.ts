/** A recording of wallets: positions over REST, during three reorgs and after them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatMicros } from "../../src/base/decimal.ts";
import { readFixture } from "../support/read-fixture.ts";
import { serveRecording } from "../support/recorded/serve-recording.ts";
import { linkedTokens, readExpectedPositions } from "../support/recorded-positions.ts";
import type { ScriptedBlock } from "../support/scripted-block.ts";
import type { Service } from "../support/service.ts";

const blocks = readFixture("wallets/chain.json.gz") as readonly ScriptedBlock[];
const expected = readExpectedPositions().find(({ block }) => block === blocks.length - 1);

/** A price with 6 decimals, or one of a linked market: the value is not that of the recording. */
const valueFields = ["price", "value_usd", "unrealized_pnl"] as const;

test("positions equal the recording", async (t) => {
  const stage = await serveRecording(t, { blocks } as never);
  const service = await stage.startService();
  await service.waitFinalized(stage.head);
  const byWallet = Map.groupBy(expected?.positions ?? [], ({ wallet }) => wallet);
  assert(byWallet.size > 20);
  for (const [wallet, positions] of byWallet) {
    const rows = await readAll(service, wallet);
    const found = new Map(rows.map((row) => [String(row["token_id"]), row]));
    assert.equal(found.size, rows.length);
    for (const want of positions) {
      const isLinked = linkedTokens.has(want.token_id);
      const row = { ...found.get(want.token_id) };
      const right: Record<string, unknown> = expectRow(want);
      if (isLinked) for (const field of valueFields) right[field] = row[field];
      const own = Object.fromEntries(Object.keys(right).map((name) => [name, row[name]]));
      assert.deepEqual(own, right, `${wallet} ${want.token_id}`);
    }
  }
});

type Page = {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly pagination: { readonly next_cursor: string | null };
};

async function readAll(service: Service, wallet: string): Promise<Page["data"]> {
  const path = `/v1/wallets/${wallet}/positions?status=all&limit=40`;
  const rows: Page["data"][number][] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: Page = await service.get(`${path}${cursor && `&cursor=${cursor}`}`);
    rows.push(...page.data);
    cursor = page.pagination.next_cursor;
  }
  return rows;
}

function expectRow(want: Readonly<Record<string, unknown>>) {
  const amount = (name: string) => {
    const value = want[name];
    return typeof value === "string" ? formatMicros(BigInt(value)) : null;
  };
  const sum = (one: string, other: string) =>
    formatMicros(BigInt(String(want[one])) + BigInt(String(want[other])));
  return {
    size: amount("shares"),
    cost_known_size: amount("known"),
    cost_usd: sum("cost", "fee_cost"),
    realized_pnl: amount("realized"),
    unknown_proceeds_usd: amount("unknown_proceeds"),
    fees_usd: amount("fees"),
    bought: amount("bought"),
    sold: amount("sold"),
    value_usd: amount("value"),
    unrealized_pnl: amount("unrealized"),
    status: want["status"],
    mergeable_size: amount("mergeable"),
    complete: true,
  };
}
