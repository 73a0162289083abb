/** Waits for all steps to end. Then resolves with their results, or rejects with the error of one that failed. */
export async function settleAll<const Steps extends readonly Promise<unknown>[]>(
  steps: Steps,
): Promise<{ -readonly [Index in keyof Steps]: Awaited<Steps[Index]> }> {
  await Promise.allSettled(steps);
  return Promise.all(steps);
}
