const reportMs = 10_000;
/**
 * A busy machine takes a minute for work that takes an idle one two seconds. Work that takes longer than this hangs.
 */
const patienceMs = 300_000;

/** Waits for work, and prints every 10 seconds that it still waits. Aborts the work after 5 minutes, or on `stop`. */
export async function waitUntilReady<Done>(
  what: string,
  stop: AbortSignal,
  work: (signal: AbortSignal) => Promise<Done>,
): Promise<Done> {
  const limit = new AbortController();
  const signal = AbortSignal.any([stop, limit.signal]);
  let waitedMs = 0;
  const reports = setInterval(() => {
    waitedMs += reportMs;
    if (waitedMs < patienceMs) console.log(`waiting  for ${what}: ${waitedMs / 1000} s so far`);
    else limit.abort(new Error(`waited ${waitedMs / 60_000} minutes in vain for ${what}`));
  }, reportMs);
  try {
    signal.throwIfAborted();
    return await work(signal);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    clearInterval(reports);
  }
}
