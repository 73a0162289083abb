/** How long work runs in one turn. Live frames and fast answers wait for this; shorter slices have more overhead. */
const sliceMs = 4;

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
