let stopped: Promise<null> | null = null;

/** Resolves with `null` at the first request to stop; a second one ends the process. */
export function awaitSignal(): Promise<null> {
  stopped ??= new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve(null));
  });
  return stopped;
}

/** Aborted at the first request to stop. */
export function signalToStop(): AbortSignal {
  const abort = new AbortController();
  void awaitSignal().then(() => abort.abort());
  return abort.signal;
}
