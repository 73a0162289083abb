/** Hostile tokens end to end: what the service says of confirmed blocks stays true once they are final. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatMicros } from "../../src/base/decimal.ts";
import { type Address, formatTokenId, toTokenId } from "../../src/base/ids.ts";
import { polygonContracts } from "../../src/contracts/polygon-contracts.ts";
import { buildBlocks } from "../support/build-blocks.ts";
import { serveRecording } from "../support/recorded/serve-recording.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import type { Page, Service } from "../support/service.ts";
import { encodeLog, type LogContent, marketLogs, testMarkets } from "../support/test-markets.ts";

const tokens = knownContracts()
  .byAddress.values()
  .find(({ kind }) => kind === "conditional_tokens");
assert(tokens !== undefined);
const toAddress = (digits: string) => `0x${digits.repeat(20)}` as Address;
const [zero, attacker, victim, other] = ["00", "a1", "b2", "c3"].map(toAddress);
assert(zero && attacker && victim && other);
const max = 2n ** 256n - 1n;
const market = testMarkets.strangersQuestion;
const [yes = 0n, no = 0n] = market.tokenIds.map(BigInt);

function transfer(from: Address, to: Address, entries: readonly (readonly [bigint, bigint])[]) {
  const [ids, values] = [entries.map(([id]) => id), entries.map(([, value]) => value)];
  return encodeLog(tokens as never, "TransferBatch", { operator: from, from, to, ids, values });
}

const pair = [
  [yes, 9_000_000n],
  [no, 9_000_000n],
] as const;
const split = encodeLog(tokens, "PositionSplit", {
  account: attacker,
  collateral: polygonContracts.collateral,
  parent: `0x${"0".repeat(64)}`,
  conditionId: market.conditionId,
  sets: [1n, 2n],
  amount: 9_000_000n,
});
const batch = Array.from(
  { length: 10_000 },
  (_, at) => [BigInt(at % 9500), BigInt(at % 5)] as const,
);
const [whole] = [transfer(attacker, victim, [[1n, 1n]])];
const malformed = { ...whole, data: whole.data.slice(0, -64) };

/** Each list is a block. The market is prepared after its tokens have moved. */
const logs: readonly (readonly LogContent[])[] = [
  [],
  [transfer(zero, attacker, pair), split],
  [transfer(attacker, victim, [[yes, 2_500_000n]]), malformed],
  [transfer(attacker, victim, batch)],
  [transfer(attacker, victim, [[77_777n, max]]), transfer(victim, victim, [[yes, 1n]])],
  [transfer(victim, other, [[yes, 500_000n]]), transfer(victim, zero, [[yes, 1_000_000n]])],
  marketLogs,
  [transfer(attacker, other, [[no, 9_000_000n]]), transfer(attacker, other, [[no, 0n]])],
];

test("hostile tokens", async (t) => {
  const blocks = buildBlocks(logs.map((own) => ({ logs: own })));
  const stage = await serveRecording(t, { blocks } as never);
  stage.node.setFinalized(0);
  const service = await stage.startService();
  await service.waitIndexed(stage.head);
  const confirmed = await readAll(service);
  stage.node.setFinalized(stage.head);
  await service.waitFinalized(stage.head);
  const final = await readAll(service);
  assert.deepEqual(final, confirmed);

  const sums = new Map<string, bigint>([[formatTokenId(toTokenId(77_777n)), max]]);
  for (const [id, amount] of batch) {
    const token = formatTokenId(toTokenId(id));
    sums.set(token, (sums.get(token) ?? 0n) + amount);
  }
  sums.set(formatTokenId(toTokenId(yes)), 1_000_000n);
  assert.deepEqual(
    new Map(
      final.positions.map((row) => [String(row["token_id"]), BigInt(String(row["size_raw"]))]),
    ),
    new Map([...sums].filter(([, amount]) => amount > 0n)),
  );
  assert.equal(final.wallet["complete"], true);
  assert.equal(final.wallet["positions_total"], final.positions.length);
  const large = final.activity.find((row) => (row["tokens"] as unknown[]).length > 1);
  assert(large !== undefined);
  assert.equal((large["tokens"] as unknown[]).length, 256);
  assert.equal(large["tokens_truncated"], true);
  const sizes = final.activity.flatMap((row) => row["tokens"] as { size: string }[]);
  assert(sizes.some(({ size }) => size === formatMicros(max)));
  assert.deepEqual(
    final.holders.map(({ address, outcome_index: outcome, size }) => [address, outcome, size]),
    [
      [other, 1, "9"],
      [attacker, 0, "6.5"],
      [victim, 0, "1"],
      [other, 0, "0.5"],
    ],
  );
  const metrics = await service.getText("/v1/metrics/prometheus");
  assert.match(metrics, /quarantine[^\n]* 1\n/);
  assert.equal(await service.stop(), 0);
});

type Rows = readonly Readonly<Record<string, unknown>>[];

async function readPages(service: Service, path: string): Promise<Rows> {
  const rows: Rows[number][] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: Page = await service.get(`${path}${cursor && `&cursor=${cursor}`}`);
    rows.push(...page.data);
    cursor = page.pagination.next_cursor;
  }
  return rows;
}

async function readAll(service: Service) {
  const own = `/v1/wallets/${victim}`;
  const { data: wallet } = await service.get<{ data: Record<string, unknown> }>(own);
  const withoutStatus = (rows: Rows): Rows => rows.map((row) => ({ ...row, status: null }));
  const holders = await readPages(service, `/v1/markets/${market.conditionId}/holders?limit=3`);
  return {
    wallet,
    positions: await readPages(service, `${own}/positions?status=all&limit=500`),
    activity: withoutStatus(await readPages(service, `${own}/activity?limit=3`)),
    holders,
  };
}
