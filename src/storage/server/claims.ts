import { randomUUID } from "node:crypto";
import type { BlockRange } from "../../chain/raw-log.ts";
import { RowWriter } from "../codec/row-writer.ts";
import type { Engine, Row } from "../engine/engine.ts";
import { integerLiteral } from "../sql-literal.ts";
import { insertUntilThere, tokenOf } from "./insert-until-there.ts";

/** Another process has claimed the next blocks, up to a different end. A restart continues from that claim. */
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
 * Claims of block ranges, which fix where appends to a database on a server end. Facts are a function of final blocks:
 * two writers with the same ranges insert the same rows under the same tokens, and the server stores them once. The
 * token of a claim names its first block, so the first claim is stored and later writers adopt its last block.
 */
export class Claims {
  readonly #engine: Engine;
  /** Whether the tables are replicated, as in a cluster. */
  readonly isReplicated: boolean;
  readonly #writer = randomUUID();
  /** The claims without a commit record: the last block by the first. */
  readonly #open: Map<number, number>;

  private constructor(engine: Engine, isReplicated: boolean, open: Map<number, number>) {
    this.#engine = engine;
    this.isReplicated = isReplicated;
    this.#open = open;
  }

  /** Reads the open claims: those from block `from` on, which are not committed. */
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

  /** The last block of each open claim. */
  get ends(): readonly number[] {
    return [...this.#open.values()];
  }

  /** Returns the block that an append from `from` on must end with; `null` when any block will do. */
  endOf(from: number): number | null {
    return this.#open.get(from) ?? null;
  }

  /** Claims the blocks of an append. Throws `ClaimedElsewhereError` when another process claimed a different end. */
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

  /** Removes a claim whose blocks are committed. */
  release(from: number): void {
    this.#open.delete(from);
  }
}
