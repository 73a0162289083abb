import { randomUUID } from "node:crypto";
import type { BlockRange } from "../../chain/raw-log.ts";
import { RowWriter } from "../codec/row-writer.ts";
import type { Engine, Row } from "../engine/engine.ts";
import { integerLiteral } from "../sql-literal.ts";
import { insertUntilThere, tokenOf } from "./insert-until-there.ts";

/** Another process has claimed the blocks that follow, and to another end. A start goes on from there. */
export class ClaimedElsewhereError extends Error {
  override name = "ClaimedElsewhereError";

  constructor({ from, to }: BlockRange) {
    super(
      `another process is indexing into this database: it has claimed blocks ${from} to ${to}; ` +
        "one process at a time may index into a database",
    );
  }
}

/**
 * Where appends to a database of a server end. Facts are a function of final blocks, so two writers that cut the chain
 * at the same places write the same rows under the same tokens, and the server takes them once. A claim is a row under
 * a token that names its first block: the first one is taken, and later writers end where it does.
 */
export class Claims {
  readonly #engine: Engine;
  /** Whether the tables are those of a cluster. */
  readonly isReplicated: boolean;
  readonly #writer = randomUUID();
  /** The last block by the first, of claims without a commit record. */
  readonly #open: Map<number, number>;

  private constructor(engine: Engine, isReplicated: boolean, open: Map<number, number>) {
    this.#engine = engine;
    this.isReplicated = isReplicated;
    this.#open = open;
  }

  /** Reads the claims from a block on: those that were begun and not committed. */
  static async open(
    engine: Engine,
    { from, isReplicated }: { readonly from: number; readonly isReplicated: boolean },
  ): Promise<Claims> {
    const rows = await engine.query(
      `SELECT from_block, to_block FROM claims WHERE from_block >= ${integerLiteral(from)} ORDER BY from_block`,
    );
    const ends = rows.map(([first, last]) => [Number(first), Number(last)] as const);
    return new Claims(engine, isReplicated, new Map(ends));
  }

  /** The last blocks of all claims that are open. */
  get ends(): readonly number[] {
    return [...this.#open.values()];
  }

  /** The block that an append from `from` on must end with; `null` when it may end with any. */
  endOf(from: number): number | null {
    return this.#open.get(from) ?? null;
  }

  /** Claims the blocks of an append. Throws `ClaimedElsewhereError` when another process did, to another end. */
  async claim({ from, to }: BlockRange): Promise<void> {
    if (this.#open.get(from) === to) return;
    const row = new RowWriter().uint64(from).uint64(to).text(this.#writer).finish();
    let taken: Row | undefined;
    await insertUntilThere({
      isReplicated: this.isReplicated,
      insert: (attempt) => this.#engine.insert("claims", row, tokenOf(`claim:${from}`, attempt)),
      isThere: async () => {
        [taken] = await this.#engine.query(
          `SELECT to_block FROM claims WHERE from_block = ${integerLiteral(from)}`,
        );
        return taken !== undefined;
      },
    });
    const end = Number(taken?.[0]);
    if (end !== to) throw new ClaimedElsewhereError({ from, to: end });
    this.#open.set(from, to);
  }

  /** The blocks of a claim are committed. */
  release(from: number): void {
    this.#open.delete(from);
  }
}
