import type { TestContext } from "node:test";

type Owner = Pick<TestContext, "after">;

const opened = new WeakMap<Owner, AsyncDisposableStack>();

/**
 * Calls `release` after the test, the last one registered first: what uses a folder is closed
 * before the folder is removed. The hooks of `t.after` run in the order they were registered.
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
