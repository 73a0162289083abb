/**
 * Yields the results of `work` in the order of the items, with up to `concurrency` of them in progress. Throws what
 * `work` throws for the first item that fails; those in progress are then left to end by themselves.
 */
export async function* mapInOrder<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<Result>,
  concurrency: number,
): AsyncGenerator<Result, void, undefined> {
  const running: Promise<Result>[] = [];
  for (const item of items) {
    const result = work(item);
    // One that fails before its turn is reported in its turn.
    result.catch(() => {});
    running.push(result);
    const [first] = running;
    if (running.length < concurrency || first === undefined) continue;
    yield await first;
    running.splice(0, 1);
  }
  for (const result of running) yield await result;
}
