/** Compares what is served of wallets with the books of the model. */
import assert from "node:assert/strict";
import type { Address, TokenId } from "../../../src/base/ids.ts";
import type { BlockFacts } from "../../../src/market/block-facts.ts";
import { toFinalDelta } from "../../../src/market/delta.ts";
import { groupActivity } from "../../../src/market/ledger/activity.ts";
import { collateralPools } from "../../../src/market/ledger/collateral.ts";
import {
  getShares,
  type LedgerRow,
  signedSharesMax,
} from "../../../src/market/ledger/ledger-row.ts";
import { RowSnapshot } from "../../../src/query/row-snapshot.ts";
import { storedActivity } from "../../../src/query/wallets/read-activity.ts";
import { readHolders } from "../../../src/query/wallets/read-holders.ts";
import { readSupply } from "../../../src/query/wallets/read-supply.ts";
import { readWallet } from "../../../src/query/wallets/read-wallet.ts";
import type { IndexedFacts } from "../../../src/views/indexed-facts.ts";
import { MarketState } from "../../../src/views/markets/market-state.ts";
import { MemoryStateStore } from "../../support/memory-state-store.ts";
import { contracts } from "../simulation.ts";
import type { ModelBlock } from "./ledger-chain.ts";
import type { ModelPosition } from "./model-position.ts";
import { formatModelRow } from "./model-row.ts";
import type { ModelState } from "./model-transaction.ts";

type Served = { readonly facts: IndexedFacts; readonly state: MarketState };

/** Every row of the ledger, every position, holder and supply, and the collateral of each pool. */
export async function assertBooks(
  { facts, state }: Served,
  blocks: readonly ModelBlock[],
): Promise<void> {
  const books = blocks.at(-1)?.state;
  if (books === undefined) return;
  const { directory } = state;
  const wallets = getWallets(books);
  const order = { order: "asc", after: null, finalizedOnly: false } as const;
  const list = storedActivity({ wallets, filter: {}, ...order });
  const activity = await new RowSnapshot(facts, list).first(100_000);
  assertSame("rows", formatRows(activity.flatMap(({ rows }) => rows)), formatBooks(blocks));
  for (const wallet of wallets) {
    const { positions = [] } = (await readWallet({ facts, directory }, wallet)) ?? {};
    assertPositions(wallet, positions, books);
  }
  await assertHolders(facts, books);
  const tokens = [...books.supply.keys()];
  const supplies = await readSupply({ facts, directory }, tokens, 3600);
  for (const [tokenId, right] of books.supply) {
    const own = supplies.filter((one) => one.tokenId === tokenId);
    const sum = (name: "minted" | "burnt") => own.reduce((total, one) => total + one[name], 0n);
    // The store adds up modulo 2^256, where a mint of more than half of that equals a burn.
    const isLarge = right.minted >= signedSharesMax;
    if (isLarge) {
      const net = BigInt.asUintN(256, sum("minted") - sum("burnt"));
      assert.equal(net, right.minted - right.burnt, tokenId);
    } else assert.deepEqual({ minted: sum("minted"), burnt: sum("burnt") }, right, tokenId);
  }
  for (const pool of collateralPools) {
    const { minted, burnt } = directory.collateral.sum(pool, { from: 0, to: Infinity });
    assert.equal(minted - burnt, books.pools[pool], pool);
  }
}

/** Compares what a state has of tokens with a state that follows these blocks from the start. */
export function assertSupplies({ directory }: MarketState, blocks: readonly BlockFacts[]): void {
  const alone = new MarketState(contracts, new MemoryStateStore());
  for (const block of blocks) alone.apply(toFinalDelta(block));
  const tokens = new Set(blocks.flatMap(({ balances }) => balances.map(({ tokenId }) => tokenId)));
  for (const tokenId of tokens) {
    assert.deepEqual(directory.getSupply(tokenId), alone.directory.getSupply(tokenId), tokenId);
  }
  const describe = ({ columns }: MarketState["directory"]) =>
    // A market that was reverted keeps its ordinal.
    Array.from({ length: columns.count }, (_, at) => at).flatMap((at) =>
      columns.createdAt.get(at) > 0
        ? [`${columns.conditionIdAt(at)} ${columns.openInterest.get(at)}`]
        : [],
    );
  assertSame("open interest", describe(directory), describe(alone.directory));
}

/** Compares the positions of a wallet, and adds them up (I5). */
export function assertPositions(
  wallet: Address,
  positions: readonly (ModelPosition & { readonly tokenId: TokenId })[],
  books: ModelState,
): void {
  const own = new Map(positions.map((position) => [`${wallet} ${position.tokenId}`, position]));
  const booked = books.positions
    .entries()
    .filter(([key]) => key.startsWith(wallet))
    .toArray();
  assert.equal(own.size, booked.length, wallet);
  let sum = 0n;
  for (const [key, right] of booked) {
    const names = Object.keys(right) as (keyof ModelPosition)[];
    assert.deepEqual(
      Object.fromEntries(names.map((name) => [name, own.get(key)?.[name]])),
      right,
      key,
    );
    sum += right.realized + right.unknownProceeds + right.moved;
    sum -= right.cost + right.feeCost + right.costOut;
  }
  assert.equal(sum, books.cash.get(wallet) ?? 0n, `cash of ${wallet}`);
}

async function assertHolders(facts: IndexedFacts, { balances, supply }: ModelState): Promise<void> {
  const tokenIds = [...balances.keys()];
  const list = { tokenIds, contracts: [], hasContracts: true, sizeMin: 1n };
  const { holders } = await readHolders(facts, list, { limit: 100_000, after: null });
  const right = [...balances].flatMap(([tokenId, holding]) =>
    [...holding].flatMap(([wallet, size]) => (size === 0n ? [] : [`${tokenId} ${wallet} ${size}`])),
  );
  const own = holders.map(({ tokenId, wallet, size }) => `${tokenId} ${wallet} ${size}`);
  assertSame("holders", own, right);
  for (const [tokenId, one] of Map.groupBy(holders, (holder) => holder.tokenId)) {
    const { minted = 0n, burnt = 0n } = supply.get(tokenId) ?? {};
    assert.equal(
      one.reduce((sum, { size }) => sum + size, 0n),
      minted - burnt,
      tokenId,
    );
  }
}

/** The causes of rows as text, after the number of their block. */
export function formatRows(rows: readonly LedgerRow[]): string[] {
  return groupActivity(rows).flatMap(({ rows: [first, ...more] }) => {
    if (first === undefined) return [];
    const tokens = [first, ...more].map((row) => ({
      tokenId: row.tokenId,
      amount: getShares(row),
    }));
    return `${Math.floor(first.seq / 1_000_000)} ${formatModelRow({ ...first, tokens })}`;
  });
}

export function formatBooks(blocks: readonly ModelBlock[]): string[] {
  return blocks.flatMap(({ block, rows }) =>
    rows.map((row) => `${block.number} ${formatModelRow(row)}`),
  );
}

/** Names only a few differences: the engine of `assert` would take gigabytes to compare long lists. */
export function assertSame(what: string, own: readonly string[], right: readonly string[]): void {
  const [sorted, expected] = [own.toSorted(), right.toSorted()];
  if (sorted.length === expected.length && sorted.every((one, at) => one === expected[at])) return;
  const [known, requested] = [new Set(own), new Set(right)];
  const differences = {
    extra: own.filter((one) => !requested.has(one)).slice(0, 3),
    missing: right.filter((one) => !known.has(one)).slice(0, 3),
    counts: [own.length, right.length],
  };
  assert.fail(`${what}: ${JSON.stringify(differences, null, 2)}`);
}

export function getWallets({ positions }: ModelState): Address[] {
  return [...new Set([...positions.keys()].map((key) => key.slice(0, 42) as Address))];
}
