/**
 * Yields the results of `work` in the order of the items, with up to `concurrency` calls in progress. Throws the error
 * of the first item that fails. Calls in progress then continue, and their results are ignored.
 */
export async function* mapInOrder<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<Result>,
  concurrency: number,
): AsyncGenerator<Result, void, undefined> {
  const running = new Set<Promise<Result>>();
  for (const item of items) {
    const result = work(item);
    // A failure is thrown when its turn comes, so it is not an unhandled rejection before.
    result.catch(() => {});
    running.add(result);
    const [first] = running;
    if (running.size < concurrency || first === undefined) continue;
    yield await first;
    running.delete(first);
  }
  for (const result of running) yield await result;
}
