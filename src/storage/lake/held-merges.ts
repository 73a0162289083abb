/**
 * Holds merges back while a lake is imported. The engine merges parts as they arrive, which writes each row several
 * times: a third of the time of an import. Parts that wait for each other are merged once.
 */
import { setTimeout as delay } from "node:timers/promises";
import { storeLimits } from "../../base/config/limits.ts";
import { type Engine, readCount } from "../engine/engine.ts";

/** Parts of a table that are merged together. Inserts wait at a thousand, and reading more takes memory. */
const partsPerMerge = 32;
/** Merges have ended when so often none was found, half a second: one follows the other. */
const idlePolls = 25;

export class HeldMerges {
  readonly #engine: Engine;
  #inserts = 0;

  private constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Only those of the embedded engine are held back: a server has other work, and would not end it with this process. */
  static async hold(engine: Engine): Promise<HeldMerges> {
    const held = new HeldMerges(engine);
    await held.#send("STOP");
    return held;
  }

  /** Counts an insert into the tables, and merges them when there are enough. */
  async count(): Promise<void> {
    this.#inserts += 1;
    if (this.#inserts % partsPerMerge !== 0 || this.#engine.kind !== "embedded") return;
    await this.release();
    for (let idle = 0; idle < idlePolls; ) {
      await delay(storeLimits.mutationsPollMs);
      idle = (await readCount(this.#engine, "system.merges")) === 0 ? idle + 1 : 0;
    }
    await this.#send("STOP");
  }

  release(): Promise<void> {
    return this.#send("START");
  }

  async #send(verb: "STOP" | "START"): Promise<void> {
    if (this.#engine.kind === "embedded") await this.#engine.command(`SYSTEM ${verb} MERGES`);
  }
}
