import type { TestContext } from "node:test";

type Owner = Pick<TestContext, "after">;

const opened = new WeakMap<Owner, AsyncDisposableStack>();

/**
 * Calls `release` after the test, in reverse order of registration, so that users of a folder close before the folder
 * is removed. Hooks of `t.after` would run in order of registration.
 */
export function cleanUp(t: Owner, release: () => unknown): void {
  let stack = opened.get(t);
  if (stack === undefined) {
    const added = new AsyncDisposableStack();
    t.after(() => added.disposeAsync());
    opened.set(t, added);
    stack = added;
  }
  stack.defer(async () => {
    await release();
  });
}
