/**
 * Yields the results of `work` in the order of the items, with up to `concurrency` of them in progress. Throws what
 * `work` throws for the first item that fails; those in progress are then left to end by themselves.
 */
export async function* mapInOrder<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<Result>,
  concurrency: number,
): AsyncGenerator<Result, void, undefined> {
  const running = new Set<Promise<Result>>();
  for (const item of items) {
    const result = work(item);
    // A failure before its turn is thrown in its turn.
    result.catch(() => {});
    running.add(result);
    const [first] = running;
    if (running.size < concurrency || first === undefined) continue;
    yield await first;
    running.delete(first);
  }
  for (const result of running) yield await result;
}
