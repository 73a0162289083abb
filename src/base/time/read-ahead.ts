/** Yields what a source yields, and reads the next item while the current one is used. */
export async function* readAhead<Item>(
  source: AsyncGenerator<Item, void, undefined>,
): AsyncGenerator<Item, void, undefined> {
  const read = () => {
    const next = source.next();
    // A failure is thrown when its turn comes, so it is not an unhandled rejection before.
    next.catch(() => {});
    return next;
  };
  try {
    for (let next = read(); ; ) {
      const { done, value } = await next;
      if (done) return;
      next = read();
      yield value;
    }
  } finally {
    await source.return();
  }
}
