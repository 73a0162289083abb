import { performance } from "node:perf_hooks";
import type { Log } from "../base/log.ts";

/** When the steps of a start were done, in milliseconds since the process began. */
export class StartLog {
  readonly #doneAtMs: Record<string, number> = {};

  /** To be made when the modules are loaded. */
  constructor() {
    this.done("modules");
  }

  done(step: string): void {
    this.#doneAtMs[step] = Math.round(performance.now());
  }

  report(log: Log): void {
    this.done("connected");
    log.info({ done_at_ms: this.#doneAtMs }, "started");
  }
}
