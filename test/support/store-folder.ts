import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { IndexedFacts } from "../../src/views/indexed-facts.ts";
import { cleanUp } from "./clean-up.ts";
import { openFacts } from "./open-facts.ts";

/** A data directory and the store that is open on it. Both are removed after the test. */
export class StoreFolder {
  readonly path: string;
  #store: IndexedFacts | null = null;

  private constructor(path: string) {
    this.path = path;
  }

  static async open(t: TestContext): Promise<StoreFolder> {
    const folder = new StoreFolder(await mkdtemp(join(tmpdir(), "oddwire-test-")));
    cleanUp(t, async () => {
      await folder.close();
      await rm(folder.path, { recursive: true, force: true });
    });
    await folder.reopen();
    return folder;
  }

  get store(): IndexedFacts {
    if (this.#store === null) throw new Error("the store is closed");
    return this.#store;
  }

  /** Closes the store if it is open, and opens it as a new process would. */
  async reopen(): Promise<IndexedFacts> {
    await this.close();
    const store = await openFacts(this.path);
    this.#store = store;
    await store.writer?.pendingTrim;
    return store;
  }

  async close(): Promise<void> {
    const store = this.#store;
    this.#store = null;
    await store?.close();
  }
}
