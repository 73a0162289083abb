/** Processes that are killed while they write. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { readFills } from "../../src/query/read-fills.ts";
import { appendForEverPath, endlessBlocks } from "../support/append-for-ever.ts";
import { cleanUp } from "../support/clean-up.ts";
import { embeddedOnly } from "../support/open-facts.ts";
import { getFills } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";

/** Not on a server: it finishes the statements of a process that was killed. */
const skip = embeddedOnly;

/** After how many lines each process is killed, so that kills hit different moments of an append. */
const linesBeforeKill = [3, 8, 14];

class Appender {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #lines: AsyncIterator<string>;
  /** The lines that the process has printed, oldest first. */
  readonly reported: string[] = [];

  constructor(t: TestContext, path: string) {
    const stdio = ["ignore", "pipe", "inherit"] as const;
    this.#child = spawn(process.execPath, [appendForEverPath, path], { stdio: [...stdio] });
    this.#exited = once(this.#child, "exit");
    assert(this.#child.stdout !== null);
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
    cleanUp(t, () => this.kill());
  }

  /** Waits until the process has printed this many lines. */
  async listen(count: number): Promise<void> {
    while (this.reported.length < count) {
      const { value, done } = await this.#lines.next();
      assert(done !== true, "the process goes on");
      this.reported.push(value);
    }
  }

  /** Kills the process and reads the rest of its output. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done === true) return;
      this.reported.push(value);
    }
  }
}

test("R10: kill -9 loses no acknowledged block and repeats none", { skip }, async (t) => {
  const folder = await StoreFolder.open(t);
  const blocks = endlessBlocks();
  for (const lines of linesBeforeKill) {
    await folder.close();
    const appender = new Appender(t, folder.path);
    await appender.listen(lines);
    await appender.kill();
    const store = await folder.reopen();
    const last = store.coverage?.last.number ?? -1;
    assert(last >= Number(appender.reported.at(-1)), "acknowledged blocks are there");
    const kept = blocks.filter((block) => block.number <= last);
    const fills = await readFills(store, {
      filter: {},
      order: "asc",
      after: null,
      limit: 100_000,
      finalizedOnly: true,
    });
    assert.deepEqual(fills, getFills(kept));
    const events = await store.engine.query("SELECT count() FROM events");
    assert.deepEqual(events, [[kept.reduce((sum, block) => sum + block.events.length, 0)]]);
  }
});
