import { setTimeout as pause } from "node:timers/promises";

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

/** The first and the longest pause between two requests whether a service is ready. */
const pauseMs = { first: 100, longest: 1000 };

/** Resolves when a service is ready. The limit of this machine's address can be lower than the requests that this takes. */
export async function pollReadiness(baseUrl: string, signal: AbortSignal): Promise<void> {
  for (let ms = pauseMs.first; ; ms = Math.min(2 * ms, pauseMs.longest)) {
    const { ok, status, headers } = await fetch(`${baseUrl}/v1/ready`, { signal });
    if (ok) return;
    const retryMs = status === 429 ? Number(headers.get("Retry-After")) * 1000 : 0;
    await pause(Math.max(ms, retryMs), undefined, { signal });
  }
}
