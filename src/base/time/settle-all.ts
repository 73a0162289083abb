/** Rejects with what one of the steps failed of, but not before all of them have ended. */
export async function settleAll(steps: readonly Promise<unknown>[]): Promise<void> {
  for (const step of await Promise.allSettled(steps)) {
    if (step.status === "rejected") throw step.reason;
  }
}
