/**
 * Reads a file once for nobody, where the system has room to keep it: what is asked of it from then on
 * does not wait for the disk. A page of markets is 140 reads from all over their copy, which take three
 * to five times as long from a disk.
 */
import { open } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

/** What is read at once, and how long others then have the disk: 4 GB take half a minute. */
const chunkBytes = 1024 * 1024;
const pauseMs = 2;
/** It is read where so many times its size are free, so that nothing else has to go for it. */
const roomTimes = 2;

/** Begins to read; what is returned ends it early. A file that cannot be read is left alone. */
export function startReadingAhead(path: string): () => void {
  const ending = new AbortController();
  readAhead(path, ending.signal).catch(() => {});
  return () => ending.abort();
}

/** The same for whoever waits for it: how many bytes were read, 0 without room. Throws what the system says. */
export async function readAhead(
  path: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<number> {
  await using file = await open(path, "r");
  const { size } = await file.stat();
  if (size * roomTimes > process.availableMemory()) return 0;
  const bytes = new Uint8Array(chunkBytes);
  let from = 0;
  for (let read = chunkBytes; read === chunkBytes; from += read) {
    ({ bytesRead: read } = await file.read(bytes, 0, chunkBytes, from));
    // Others read from the disk too.
    await pause(pauseMs, undefined, { signal });
  }
  return from;
}
