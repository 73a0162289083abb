import type { Column } from "./column.ts";
import type { Codec, StateStore, StateTable } from "./state-store.ts";

/** An integer: a number if it is safe, else a `bigint`, because a number would not be exact. */
export type Amount = number | bigint;

/** Exact integers of any size, by index. The column has those that are not safe integers only rounded. */
export class ExactColumn {
  readonly #rounded: Column<"f64">;
  /** The integers that are not safe, by `getKey` their index. */
  readonly #large: Pick<StateTable<string, bigint>, "get" | "set">;

  /** Without a table for large integers, these are not saved. */
  constructor(
    rounded: Column<"f64">,
    large: Pick<StateTable<string, bigint>, "get" | "set"> = new Map<string, bigint>(),
  ) {
    this.#rounded = rounded;
    this.#large = large;
  }

  /** Continues from what the state store contains. */
  static open(stateStore: StateStore, name: string): ExactColumn {
    return new ExactColumn(
      stateStore.column(name, "f64"),
      stateStore.table(name, { encode: String, decode: BigInt } satisfies Codec<bigint>),
    );
  }

  /** Returns 0 where nothing was set. */
  get(index: number): Amount {
    const rounded = this.#rounded.get(index);
    if (Number.isSafeInteger(rounded)) return rounded;
    return this.#large.get(getKey(index)) ?? BigInt(rounded);
  }

  /** Adds up the integers from one index to another, which is exclusive. */
  sum(from: number, to: number): bigint {
    let sum = 0n;
    let safe = 0;
    for (let index = from; index < to; index += 1) {
      const amount = this.get(index);
      const next = typeof amount === "number" ? safe + amount : Number.NaN;
      if (Number.isSafeInteger(next)) safe = next;
      else {
        sum += BigInt(safe) + BigInt(amount);
        safe = 0;
      }
    }
    return sum + BigInt(safe);
  }

  set(index: number, amount: Amount): void {
    const rounded = Number(amount);
    this.#rounded.set(index, rounded);
    if (!Number.isSafeInteger(rounded)) this.#large.set(getKey(index), BigInt(amount));
  }

  add(index: number, amount: Amount): void {
    const before = this.get(index);
    const isSmall = typeof before === "number" && typeof amount === "number";
    const sum = isSmall ? before + amount : Number.NaN;
    this.set(index, Number.isSafeInteger(sum) ? sum : BigInt(before) + BigInt(amount));
  }
}

function getKey(index: number): string {
  return `0x${index.toString(16).padStart(8, "0")}`;
}
