type Ending = () => void | Promise<void>;

type Part = { close(): void | Promise<void> };

/** Closes the parts that a role has opened, in reverse order. */
export class Lifetime {
  /** Resolves with the first error that only a restart can repair. */
  readonly failed: Promise<Error>;
  readonly fail: (error: Error) => void;
  readonly #endings: Ending[] = [];
  #isClosed = false;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.failed = promise;
    this.fail = resolve;
  }

  /**
   * Registers a close handler. Handlers run in reverse order. Once closing has begun, runs it immediately and throws,
   * which aborts a role that is still opening.
   */
  onClose(end: Ending): void {
    this.#endings.push(end);
    if (!this.#isClosed) return;
    this.close().catch(this.fail);
    throw new Error("the role was closed while it was opened");
  }

  /** Registers a part, to be closed as with `onClose`. Returns it. */
  use<Owned extends Part>(part: Owned): Owned {
    this.onClose(() => part.close());
    return part;
  }

  async close(): Promise<void> {
    // Parts that are opened meanwhile are closed too.
    for (let end = this.#endings.pop(); end !== undefined; end = this.#endings.pop()) await end();
    this.#isClosed = true;
  }
}
