import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";

/**
 * Whether a lake would be among the files of a store, or a store among those of a lake. Links are followed, and folders may
 * be missing. A lake may be a folder of its own in the data directory, such as one volume for both has.
 */
export function areOverlapping(lake: string, dataDir: string): boolean {
  const [one, store] = [toRealPath(resolve(lake)), toRealPath(resolve(dataDir))];
  return isWithin(store, one) || isWithin(one, join(store, "facts"));
}

function isWithin(path: string, folder: string): boolean {
  return join(path, sep).startsWith(join(folder, sep));
}

function toRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(toRealPath(parent), basename(path));
  }
}
