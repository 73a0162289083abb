import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";

/** Whether two folders, which may be missing, are the same or one is inside the other. Links are followed. */
export function areOverlapping(first: string, second: string): boolean {
  const [one, other] = [first, second].map((path) => join(toRealPath(resolve(path)), sep)) as [
    string,
    string,
  ];
  return one.startsWith(other) || other.startsWith(one);
}

function toRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(toRealPath(parent), basename(path));
  }
}
