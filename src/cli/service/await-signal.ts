let stopped: Promise<null> | null = null;

/** Resolves with `null` at the first SIGINT or SIGTERM. A second signal of the same kind ends the process. */
export function awaitSignal(): Promise<null> {
  stopped ??= new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve(null));
  });
  return stopped;
}

/** Returns a signal that is aborted at the first SIGINT or SIGTERM. */
export function signalToStop(): AbortSignal {
  const abort = new AbortController();
  void awaitSignal().then(() => abort.abort());
  return abort.signal;
}
