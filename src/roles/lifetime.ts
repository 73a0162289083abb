type Ending = () => void | Promise<void>;

/** What a role has opened, which is closed in the reverse order. */
export class Lifetime {
  /** Resolves with what only a restart can repair, if that ever happens. */
  readonly failed: Promise<Error>;
  readonly fail: (error: Error) => void;
  readonly #endings: Ending[] = [];

  constructor() {
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.failed = promise;
    this.fail = resolve;
  }

  /** Has something closed with the rest, before what was opened earlier. */
  onClose(end: Ending): void {
    this.#endings.push(end);
  }

  async close(): Promise<void> {
    // What is opened meanwhile is closed too.
    for (let end = this.#endings.pop(); end !== undefined; end = this.#endings.pop()) await end();
  }
}

/** Another indexer has become the active one; this one stands by again. */
export class SupersededError extends Error {
  override name = "SupersededError";

  constructor() {
    super("another indexer is active");
  }
}
