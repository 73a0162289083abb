/**
 * Starts and stops a role. The modules in `roles/` wire its parts.
 */
import { Lifetime } from "./roles/lifetime.ts";
import type { RoleStart } from "./roles/open-parts.ts";

/** A running process of the service. */
export class Service {
  readonly #life: Lifetime;
  /** The base URL of the service. */
  readonly url: string;

  private constructor(life: Lifetime, url: string) {
    this.#life = life;
    this.url = url;
  }

  /**
   * Opens everything and resolves when the service answers requests. Indexing continues in the background.
   * Throws `ConfigError`, `WrongChainError`, `DataFolderBusyError` or `StoreDamagedError`, after closing
   * everything again. A start that waits for facts throws when `stop` is aborted.
   */
  static async open(start: Omit<RoleStart, "life">): Promise<Service> {
    const life = new Lifetime();
    try {
      return new Service(life, await openRole({ ...start, life }));
    } catch (thrown) {
      await life.close();
      throw thrown;
    }
  }

  /** Resolves with the error if the service fails in a way that only a restart can repair. */
  get failed(): Promise<Error> {
    return this.#life.failed;
  }

  /** Waits for requests and the current batch to finish, then closes everything. */
  async close(): Promise<void> {
    await this.#life.close();
  }
}

/** Loads only the modules of the role, so that the embedded default loads no code of a cluster. */
async function openRole(start: RoleStart): Promise<string> {
  switch (start.role) {
    case "serve":
      return (await import("./roles/serve-role.ts")).openServe(start);
    case "index":
      return (await import("./roles/indexer-role.ts")).openIndex(start);
    case "api":
      return (await import("./roles/api-role.ts")).openApi(start);
  }
}
