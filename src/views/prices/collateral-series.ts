import type { Address } from "../../base/ids.ts";
import type { Range } from "../../base/range.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import {
  type CollateralPool,
  collateralPools,
  getPoolAccount,
} from "../../market/ledger/collateral.ts";
import type { BalanceChange } from "../../market/ledger/ledger-row.ts";
import type { Column } from "../disk/column.ts";
import { ExactColumn } from "../disk/exact-column.ts";
import type { StateStore } from "../disk/state-store.ts";
import type { UndoLog } from "../disk/undo-log.ts";

/** Collateral that came into a pool, and what it paid out. Micros. */
type CollateralFlow = { readonly minted: bigint; readonly burnt: bigint };

type FlowColumns = Readonly<Record<keyof CollateralFlow, ExactColumn>>;

const hourSeconds = 3600;

/** What came into each pool of collateral and what it paid in each hour since the first. */
export class CollateralSeries {
  readonly #journal: UndoLog;
  readonly #pools: ReadonlyMap<Address | null, FlowColumns>;
  readonly #accounts: Readonly<Record<CollateralPool, Address | null>>;
  /** The number of the first hour since 1970, and of the hours so far. */
  readonly #bounds: Column<"f64">;

  constructor(contracts: Contracts, stateStore: StateStore) {
    this.#journal = stateStore.journal;
    this.#bounds = stateStore.column("collateral.bounds", "f64");
    const [standard, negRisk, protocolV2] = collateralPools.map((pool) =>
      getPoolAccount(contracts, pool),
    );
    this.#accounts = {
      standard: standard ?? null,
      neg_risk: negRisk ?? null,
      protocol_v2: protocolV2 ?? null,
    };
    this.#pools = new Map(
      collateralPools.map((pool) => [
        this.#accounts[pool],
        {
          minted: ExactColumn.open(stateStore, `collateral.${pool}.minted`),
          burnt: ExactColumn.open(stateStore, `collateral.${pool}.burnt`),
        },
      ]),
    );
  }

  /** The hours from the first change to the last, as Unix seconds; the end is exclusive. */
  get range(): Range<number> {
    const [first, count] = [this.#bounds.get(0), this.#bounds.get(1)];
    return { from: first * hourSeconds, to: (first + count) * hourSeconds };
  }

  /** Adds changes of the balances of pools, in rising order of hours. */
  apply(changes: readonly BalanceChange[]): void {
    for (const { wallet, timestamp, shares } of changes) {
      const columns = this.#pools.get(wallet);
      if (columns === undefined) continue;
      const hour = Math.floor(timestamp / hourSeconds);
      if (this.#bounds.get(1) === 0) this.#journal.setAt(this.#bounds, 0, hour);
      const index = Math.max(0, hour - this.#bounds.get(0));
      this.#journal.setAt(this.#bounds, 1, Math.max(this.#bounds.get(1), index + 1));
      if (shares < 0n) this.#add(columns.minted, index, -shares);
      else this.#add(columns.burnt, index, shares);
    }
  }

  #add(column: ExactColumn, index: number, amount: bigint): void {
    const before = column.get(index);
    column.add(index, amount);
    const after = column.get(index);
    this.#journal.addChange({
      undo: () => column.set(index, before),
      redo: () => column.set(index, after),
    });
  }

  /** Adds up what came into a pool and what it paid in the hours that begin in a range of time. */
  sum(pool: CollateralPool, { from, to }: Range<number>): CollateralFlow {
    const columns = this.#pools.get(this.#accounts[pool]);
    const [first, count] = [this.#bounds.get(0), this.#bounds.get(1)];
    const start = Math.max(0, Math.ceil(from / hourSeconds) - first);
    const end = Math.min(count, Math.ceil(to / hourSeconds) - first);
    return {
      minted: columns === undefined ? 0n : columns.minted.sum(start, end),
      burnt: columns === undefined ? 0n : columns.burnt.sum(start, end),
    };
  }
}
