import { randomUUID } from "node:crypto";
import { StartAgainError } from "../../base/errors.ts";
import type { BlockRange } from "../../chain/raw-log.ts";
import { RowWriter } from "../codec/row-writer.ts";
import type { Engine, Row } from "../engine/engine.ts";
import { getToken, insertUntilThere } from "../engine/insert-until-there.ts";
import { integerLiteral } from "../sql-literal.ts";

/**
 * Claims of block ranges, which fix where appends to a database on a server end. Facts are a function of final
 * blocks. So two writers with the same ranges insert the same rows under the same tokens, and the server stores them
 * once. The token of a claim names its first block, so the first claim is stored and later writers adopt its last
 * block.
 */
export class Claims {
  readonly #engine: Engine;
  readonly #writer = randomUUID();
  /** The claims without a commit record: the last block by the first. */
  readonly #open: Map<number, number>;

  private constructor(engine: Engine, open: Map<number, number>) {
    this.#engine = engine;
    this.#open = open;
  }

  /** Reads the open claims: those from block `from` on, which are not committed. */
  static async open(engine: Engine, from: number): Promise<Claims> {
    const rows = await engine.query(
      `SELECT from_block, to_block FROM claims WHERE from_block >= ${integerLiteral(from)} ORDER BY from_block`,
    );
    const ends = rows.map(([first, last]) => [Number(first), Number(last)] as const);
    return new Claims(engine, new Map(ends));
  }

  /** The last block of each open claim. */
  get ends(): readonly number[] {
    return [...this.#open.values()];
  }

  /** Returns the block that an append from `from` on must end with; `null` when any block will do. */
  getEnd(from: number): number | null {
    return this.#open.get(from) ?? null;
  }

  /** Claims the blocks of an append. Throws `StartAgainError` when another process claimed a different end. */
  async claim({ from, to }: BlockRange): Promise<void> {
    if (this.#open.get(from) === to) return;
    const row = new RowWriter().uint64(from).uint64(to).text(this.#writer).finish();
    let taken: Row | undefined;
    const insert = (attempt: number) =>
      this.#engine.insert("claims", row, getToken(`claim:${from}`, attempt));
    await insertUntilThere(this.#engine, insert, async () => {
      [taken] = await this.#engine.query(
        `SELECT to_block FROM claims WHERE from_block = ${integerLiteral(from)}`,
      );
      return taken !== undefined;
    });
    const end = Number(taken?.[0]);
    if (end !== to) {
      throw new StartAgainError(
        `another process is indexing into this database: it has claimed blocks ${from} to ${end}; ` +
          "one process at a time may index into a database",
      );
    }
    this.#open.set(from, to);
  }

  /** Removes a claim whose blocks are committed. */
  release(from: number): void {
    this.#open.delete(from);
  }
}
