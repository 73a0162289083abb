/** Resolves with `null` at the first request to stop; a second one ends the process at once. */
export function awaitSignal(): Promise<null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve(null));
  return promise;
}

/** Aborted at the first request to stop. */
export function signalToStop(): AbortSignal {
  const abort = new AbortController();
  void awaitSignal().then(() => abort.abort());
  return abort.signal;
}
