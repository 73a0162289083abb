/** Resolves with the results; rejects with what one of the steps failed of, but not before all of them have ended. */
export async function settleAll<const Steps extends readonly Promise<unknown>[]>(
  steps: Steps,
): Promise<{ -readonly [Index in keyof Steps]: Awaited<Steps[Index]> }> {
  await Promise.allSettled(steps);
  return Promise.all(steps);
}
