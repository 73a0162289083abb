/** Live frames and quick answers wait for one slice; shorter ones would cost more in between. */
const sliceMs = 4;

const waiting: (() => void)[] = [];

/**
 * Resolves when it is the caller's turn to work for some milliseconds. Each iteration of the event loop
 * gives one turn, whatever the long work is for, so that all of it together delays the rest by one slice.
 */
export async function nextTurn(): Promise<void> {
  await new Promise<void>((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(giveTurn);
  });
}

function giveTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(giveTurn);
}

/** Works through items in slices. What `work` looks at may change in between. */
export async function mapInTurns<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let sliceEndsAtMs = performance.now() + sliceMs;
  for (const item of items) {
    if (performance.now() >= sliceEndsAtMs) {
      await nextTurn();
      sliceEndsAtMs = performance.now() + sliceMs;
    }
    results.push(work(item));
  }
  return results;
}
