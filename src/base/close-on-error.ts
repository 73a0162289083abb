/** Runs work that needs an open part. Closes the part when the work fails, so that nothing stays open or locked. */
export async function closeOnError<Result>(
  part: { close(): void | Promise<void> },
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    await part.close();
    throw thrown;
  }
}
