import { mustBe } from "./part-unreadable-error.ts";

/** What the name of a part says: which inserts it is made of, and how it came to be. */
type PartName = {
  readonly name: string;
  readonly first: number;
  readonly last: number;
  /** How often it was merged. */
  readonly level: number;
  /** The change that rewrote it; 0 when none did. */
  readonly mutation: number;
};

/** Tables are not partitioned here: all parts are of one partition, which has this name. */
const pattern = /^all_(\d+)_(\d+)_(\d+)(?:_(\d+))?$/;

/**
 * Of what stands in the folder of a table, the parts that hold its rows, in the order of their inserts. What
 * was merged or rewritten stays there for minutes beside what was made of it, and a start of the engine
 * tells them apart by their names in the same way. Throws `PartUnreadableError` where they contradict each other.
 */
export function activeParts(names: readonly string[]): readonly string[] {
  const parts = names.flatMap((name) => parse(name) ?? []).toSorted(compare);
  const active: PartName[] = [];
  for (const part of parts) {
    const last = active.at(-1);
    if (last !== undefined && part.last <= last.last) continue;
    mustBe(
      last === undefined || part.first > last.last,
      "parts cover each other whole or not at all",
    );
    active.push(part);
  }
  return active.map(({ name }) => name);
}

function parse(name: string): PartName | null {
  const [, first, last, level, mutation = 0] = pattern.exec(name) ?? [];
  if (first === undefined) return null;
  return {
    name,
    first: Number(first),
    last: Number(last),
    level: Number(level),
    mutation: Number(mutation),
  };
}

/** Whatever covers a part stands in front of it. */
function compare(a: PartName, b: PartName): number {
  return a.first - b.first || b.last - a.last || b.level - a.level || b.mutation - a.mutation;
}
