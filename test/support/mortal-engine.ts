import type { BinaryFormat, Engine, Row, Rows } from "../../src/storage/engine/engine.ts";
import type { SpoolFile } from "../../src/storage/engine/spool-file.ts";

/** An engine that fails before its n-th write, as if the process had died. */
export class MortalEngine implements Engine {
  readonly #engine: Engine;
  #writesLeft: number;

  constructor(engine: Engine, writesLeft: number) {
    this.#engine = engine;
    this.#writesLeft = writesLeft;
  }

  get kind(): Engine["kind"] {
    return this.#engine.kind;
  }

  get hasWallets(): boolean {
    return this.#engine.hasWallets;
  }

  get meter(): Engine["meter"] {
    return this.#engine.meter;
  }

  query(sql: string): Promise<readonly Row[]> {
    return this.#engine.query(sql);
  }

  queryBinary(sql: string, format: BinaryFormat): Promise<Buffer> {
    return this.#engine.queryBinary(sql, format);
  }

  command(sql: string): Promise<void> {
    this.#live();
    return this.#engine.command(sql);
  }

  openRows(): Promise<SpoolFile> {
    return this.#engine.openRows();
  }

  insert(table: string, rows: Rows, token?: string): Promise<void> {
    this.#live();
    return this.#engine.insert(table, rows, token);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  #live(): void {
    if (this.#writesLeft === 0) throw new Error("killed");
    this.#writesLeft -= 1;
  }
}
