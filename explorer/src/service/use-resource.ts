import { useEffect, useState } from "preact/hooks";
import { wait } from "../../../clients/typescript/src/backoff.ts";
import type { OddwireClient } from "../../../clients/typescript/src/client.ts";
import { type Failure, toFailure } from "./failure.ts";
import { client, lock } from "./session.ts";

/** Data of the service: the last value read, and why a newer one could not be read. */
export type Resource<T> = {
  readonly data: T | null;
  readonly failure: Failure | null;
};

type Options = {
  /** The interval at which to read again; without it the data is read once. */
  readonly everyMs?: number;
  /** Another number reads again immediately. The last value stays until then. */
  readonly version?: number;
};

const longestRetryMs = 8000;
const rememberedMax = 60;
/** The values read before, so that Back shows them without waiting. */
const remembered = new Map<string, unknown>();

/**
 * Reads data and keeps it fresh. A temporary failure is retried until it passes, and the last value stays. `name`
 * identifies the data: another name starts another read, and `null` reads nothing.
 */
export function useResource<T>(
  name: string | null,
  read: (client: OddwireClient) => Promise<T>,
  { everyMs, version }: Options = {},
): Resource<T> {
  const [state, setState] = useState<Resource<T> & { readonly of: string | null }>(start(name));
  const using = client.value;
  useEffect(() => {
    if (name === null) return;
    const left = new AbortController();
    setState(start<T>(name));
    void keepReading(async () => read(using), {
      signal: left.signal,
      everyMs: everyMs ?? null,
      onRead: (data) => {
        remember(name, data);
        setState({ of: name, data, failure: null });
      },
      onFailed: (failure) => setState((before) => ({ ...before, failure })),
    });
    return () => left.abort();
  }, [name, using, everyMs, version]);
  return state.of === name ? state : start<T>(name);
}

function start<T>(name: string | null): Resource<T> & { readonly of: string | null } {
  const data = name === null ? null : ((remembered.get(name) as T | undefined) ?? null);
  return { of: name, data, failure: null };
}

function remember(name: string, data: unknown): void {
  remembered.delete(name);
  remembered.set(name, data);
  const [oldest] = remembered.keys();
  if (remembered.size > rememberedMax && oldest !== undefined) remembered.delete(oldest);
}

function nextMsAfter({ kind, retryMs }: Failure, failuresBefore: number): number | null {
  // `fetchWhenAllowed` doubles the wait for all requests together.
  if (retryMs === null || kind === "limited") return retryMs;
  return Math.min(retryMs * 2 ** failuresBefore, longestRetryMs);
}

async function keepReading<T>(
  read: () => Promise<T>,
  options: {
    readonly signal: AbortSignal;
    readonly everyMs: number | null;
    readonly onRead: (data: T) => void;
    readonly onFailed: (failure: Failure) => void;
  },
): Promise<void> {
  const { signal, everyMs } = options;
  let failures = 0;
  while (!signal.aborted) {
    let nextMs: number | null = everyMs;
    try {
      const data = await read();
      if (signal.aborted) return;
      failures = 0;
      options.onRead(data);
    } catch (thrown) {
      if (signal.aborted) return;
      const failure = toFailure(thrown);
      if (failure.kind === "key") return lock();
      options.onFailed(failure);
      nextMs = nextMsAfter(failure, failures);
      failures += 1;
    }
    if (nextMs === null) return;
    await wait(nextMs, signal).catch(() => {});
    while (document.hidden && !signal.aborted) await wait(500, signal).catch(() => {});
  }
}
