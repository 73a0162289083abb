import type { Cell } from "../engine/engine.ts";

/** Returns a `hex(...)` cell as lower-case `0x` hex. */
export function prefixed(cell: Cell | undefined): string {
  return `0x${String(cell).toLowerCase()}`;
}
