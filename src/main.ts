/**
 * Starts a role, whose parts are wired in `roles/`, and stops it again. Nothing here decides anything about the product.
 */
import type { Config, Role } from "./base/config/config.ts";
import type { Log } from "./base/log.ts";
import { Lifetime } from "./roles/lifetime.ts";
import type { RoleStart } from "./roles/open-parts.ts";

/** A running process of the service. */
export class Service {
  readonly #life: Lifetime;
  /** Where requests are answered. */
  readonly url: string;

  private constructor(life: Lifetime, url: string) {
    this.#life = life;
    this.url = url;
  }

  /**
   * Opens everything; resolves once requests are answered, while indexing goes on on its own.
   * Throws `ConfigError`, `WrongChainError`, `DataFolderBusyError` or `StoreDamagedError`,
   * with everything closed again.
   */
  static async open(role: Role, config: Config, log: Log): Promise<Service> {
    const life = new Lifetime();
    try {
      return new Service(life, await openRole({ role, config, log, life }));
    } catch (thrown) {
      await life.close();
      throw thrown;
    }
  }

  /** Resolves with what only a restart can repair, if that ever happens. */
  get failed(): Promise<Error> {
    return this.#life.failed;
  }

  /** Lets requests and the batch at hand finish, then closes everything. */
  async close(): Promise<void> {
    await this.#life.close();
  }
}

/** Each role is loaded with what it needs: the embedded default knows nothing of a cluster. */
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
