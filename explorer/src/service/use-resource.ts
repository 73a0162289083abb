import { useEffect, useState } from "preact/hooks";
import { wait } from "../../../client/src/backoff.ts";
import type { OddwireClient } from "../../../client/src/client.ts";
import { type Failure, toFailure } from "./failure.ts";
import { client, lock } from "./session.ts";

/** Something of the service: what was read last, and why nothing newer could be. */
export type Resource<T> = {
  readonly data: T | null;
  readonly failure: Failure | null;
};

type Options = {
  /** Reads again this often; never when left out. */
  readonly everyMs?: number;
};

const longestRetryMs = 8000;
const rememberedMax = 60;
/** What was read before, so that Back shows it without waiting. */
const remembered = new Map<string, unknown>();

/**
 * Reads something and keeps it fresh. A failure that can pass is retried until it does; what was read before
 * stays. `name` identifies what is read: another name is another thing; `null` reads nothing.
 */
export function useResource<T>(
  name: string | null,
  read: (client: OddwireClient) => Promise<T>,
  { everyMs }: Options = {},
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
  }, [name, using, everyMs]);
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
      nextMs = failure.retryMs && Math.min(failure.retryMs * 2 ** failures, longestRetryMs);
      failures += 1;
    }
    if (nextMs === null) return;
    await wait(nextMs, signal).catch(() => {});
    while (document.hidden && !signal.aborted) await wait(500, signal).catch(() => {});
  }
}
