/**
 * The durable log of facts and the tail above it. Blocks that are final go to the engine, in the
 * order facts, then marker; blocks that are not are held in memory until they are. Reads see both
 * as one: everything up to `coverage.last` from the engine, everything above from the tail.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { assert } from "../base/assert.ts";
import type { BlockFacts } from "../market/block-facts.ts";
import { ChdbEngine } from "./chdb-engine.ts";
import { type EncodedBatch, encodeFacts, type Stretch } from "./encode-facts.ts";
import type { Engine } from "./engine.ts";
import { type Coverage, recover } from "./recover.ts";
import { schemaStatements } from "./schema.ts";
import { Tail } from "./tail.ts";

export class FactStore {
  readonly engine: Engine;
  readonly tail = new Tail();
  #coverage: Coverage | null;

  private constructor(engine: Engine, coverage: Coverage | null) {
    this.engine = engine;
    this.#coverage = coverage;
  }

  /**
   * Opens the store in a data folder, making it when it does not exist, and trims what a crash
   * left above the newest marker. Throws `DataFolderBusyError` or `DataFolderDamagedError`.
   */
  static async open(dataDir: string): Promise<FactStore> {
    await mkdir(dataDir, { recursive: true });
    const engine = ChdbEngine.open(join(dataDir, "facts"));
    for (const statement of schemaStatements) await engine.command(statement);
    return new FactStore(engine, await recover(engine));
  }

  /** What is stored for good; `null` before the first append. */
  get coverage(): Coverage | null {
    return this.#coverage;
  }

  /** The number of the newest block indexed, final or not; `null` before the first. */
  get newestBlock(): number | null {
    return this.tail.newest?.number ?? this.#coverage?.last.number ?? null;
  }

  /**
   * Appends the facts of final blocks, which must go on where the last append ended. Durable when
   * it resolves; when it rejects, the store must be closed: `open` will trim what was half written.
   */
  async append(batch: EncodedBatch): Promise<void> {
    assert(this.tail.newest === null, "nothing is appended below blocks that are held");
    await this.#insert(batch);
    this.#cover(batch);
  }

  /** Moves the tail's blocks up to and including `block` to the engine. */
  async finalize(block: number): Promise<void> {
    const final = this.tail.through(block);
    const [first, last] = [final[0], final.at(-1)];
    if (first === undefined || last === undefined) return;
    const stretch = { fromBlock: first.number, toBlock: last.number, last: refOf(last) };
    await this.#insert(encodeFacts(stretch, final));
    // In one go: a read must see each row in the engine or in the tail, never in both.
    this.#cover(stretch);
    this.tail.dropThrough(block);
  }

  async #insert(batch: EncodedBatch): Promise<void> {
    const coverage = this.#coverage;
    assert(
      coverage === null || batch.fromBlock === coverage.last.number + 1,
      "an append goes on where the last one ended",
    );
    await this.engine.insert("oddwire.fills", batch.fills);
    await this.engine.insert("oddwire.minute_candles", batch.minuteCandles);
    await this.engine.insert("oddwire.events", batch.events);
    await this.engine.insert("oddwire.quarantine", batch.quarantine);
    await this.engine.insert("oddwire.markers", batch.marker);
  }

  #cover({ fromBlock, last }: Stretch): void {
    this.#coverage = { fromBlock: this.#coverage?.fromBlock ?? fromBlock, last };
  }

  async close(): Promise<void> {
    await this.engine.close();
  }
}

function refOf({ number, hash, timestamp }: BlockFacts): Coverage["last"] {
  return { number, hash, timestamp };
}
