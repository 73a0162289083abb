/**
 * Measures how long the disk takes to read a page that is not cached, which is the minimum for a reader of a large
 * store.
 */
import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { getLoad, type Load } from "./http-load.ts";

const pageBytes = 4096;

/** Reads random pages of the files in a folder, one after the other. A file is chosen in proportion to its size. */
export async function measureDiskReads(
  folder: string,
  reads: number,
  random: { readonly integer: (min: number, max: number) => number },
): Promise<Load> {
  const files = await getFiles(folder);
  const pages = files.reduce((sum, file) => sum + file.pages, 0);
  const latencies: number[] = [];
  while (latencies.length < reads) {
    let page = random.integer(0, pages - 1);
    const file = files.find((one) => {
      if (page < one.pages) return true;
      page -= one.pages;
      return false;
    });
    if (file === undefined) throw new Error("a page is of one of the files");
    const handle = await open(file.path).catch(nullWhenGone);
    if (handle === null) continue;
    const startedAt = performance.now();
    await handle.read(Buffer.alloc(pageBytes), 0, pageBytes, page * pageBytes);
    latencies.push(performance.now() - startedAt);
    await handle.close();
  }
  return getLoad(latencies);
}

async function getFiles(folder: string): Promise<{ path: string; pages: number }[]> {
  const names = await readdir(folder, { recursive: true });
  const files: { path: string; pages: number }[] = [];
  for (const name of names) {
    const path = join(folder, name);
    const found = await stat(path).catch(nullWhenGone);
    if (found?.isFile()) files.push({ path, pages: Math.floor(found.size / pageBytes) });
  }
  return files;
}

/** Files of a running service appear and disappear. */
function nullWhenGone(error: NodeJS.ErrnoException): null {
  if (error.code !== "ENOENT") throw error;
  return null;
}
