/** How long work runs in one turn. Live frames and fast answers wait for this; shorter slices have more overhead. */
const sliceMs = 4;

const itemsPerStep = 256;

const waiting: (() => void)[] = [];

/**
 * Resolves when it is the caller's turn to work for some milliseconds. Each iteration of the event loop gives one
 * turn, so that all long-running work together delays other work by at most one slice.
 */
export async function yieldToEventLoop(): Promise<void> {
  await new Promise<void>((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(giveTurn);
  });
}

function giveTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(giveTurn);
}

/** Maps items in slices. Data that `work` reads can change between slices. */
export async function mapYielding<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let sliceEndsAtMs = performance.now() + sliceMs;
  for (const item of items) {
    if (performance.now() >= sliceEndsAtMs) {
      await yieldToEventLoop();
      sliceEndsAtMs = performance.now() + sliceMs;
    }
    results.push(work(item));
  }
  return results;
}

/** Sorts items in slices. Equal ones stay in their order. */
export async function sortYielding<Item>(
  items: readonly Item[],
  compare: (one: Item, other: Item) => number,
): Promise<readonly Item[]> {
  let sorted: readonly Item[] = [];
  const steps = function* (): Generator<undefined, void> {
    sorted = yield* mergeSort(items, compare);
  };
  await mapYielding(steps(), () => undefined);
  return sorted;
}

/** Sorts both halves and merges them. Yields after each step. */
function* mergeSort<Item>(
  items: readonly Item[],
  compare: (one: Item, other: Item) => number,
): Generator<undefined, readonly Item[]> {
  if (items.length <= itemsPerStep) {
    yield;
    return items.toSorted(compare);
  }
  const middle = items.length >>> 1;
  const lower = yield* mergeSort(items.slice(0, middle), compare);
  const upper = yield* mergeSort(items.slice(middle), compare);
  const merged: Item[] = [];
  for (let [at, next] = [0, 0]; merged.length < items.length; ) {
    const [one, other] = [lower[at], upper[next]] as [Item, Item];
    const isOne = next === upper.length || (at < lower.length && compare(one, other) <= 0);
    merged.push(isOne ? one : other);
    if (isOne) at += 1;
    else next += 1;
    if (merged.length % itemsPerStep === 0) yield;
  }
  return merged;
}
