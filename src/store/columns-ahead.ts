/**
 * Columns of the copy of the markets, which are hundreds of megabytes when there are many: a thread
 * reads them while the modules of the service are loaded and its store is opened. It starts before
 * the data folder is ours, so what it has read counts only if the file still stands at that save.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { SavedColumns } from "./saved-columns.ts";

/** The file in a data folder that holds the copy. */
export const marketsFileName = "markets.sqlite";

/** By data folder, what nobody has taken yet. */
const begun = new Map<string, Promise<SavedColumns | null>>();

/** Begins to read, unless that was begun already. */
export function beginColumns(dataDir: string): void {
  if (!begun.has(dataDir)) begun.set(dataDir, readOnThread(join(dataDir, marketsFileName)));
}

/** What was begun, once it is read; `null` without, and when the file cannot be read. */
export async function takeColumns(dataDir: string): Promise<SavedColumns | null> {
  const columns = begun.get(dataDir) ?? null;
  begun.delete(dataDir);
  return columns;
}

async function readOnThread(path: string): Promise<SavedColumns | null> {
  if (!existsSync(path)) return null;
  const { promise, resolve } = Promise.withResolvers<SavedColumns | null>();
  const worker = new Worker(new URL("./columns-thread.ts", import.meta.url), { workerData: path });
  worker.on("message", resolve);
  // Whoever opens the file next finds out what is wrong with it.
  worker.on("error", () => resolve(null));
  worker.on("exit", () => resolve(null));
  return promise;
}
