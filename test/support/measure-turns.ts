/**
 * Does some work and returns the milliseconds of the longest turn of the event loop meanwhile, in processor time of this
 * thread: waiting for a processor of a busy machine does not count.
 */
export async function measureLongestTurn(work: () => Promise<void>): Promise<number> {
  let longestMicros = 0;
  let isDone = false;
  let before = process.threadCpuUsage();
  const measure = () => {
    const { user, system } = process.threadCpuUsage(before);
    longestMicros = Math.max(longestMicros, user + system);
    before = process.threadCpuUsage();
    if (!isDone) setImmediate(measure);
  };
  setImmediate(measure);
  try {
    await work();
  } finally {
    isDone = true;
  }
  return longestMicros / 1000;
}
