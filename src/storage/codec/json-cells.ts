import type { Cell } from "../engine/engine.ts";

/** A `hex(...)` cell as `0x` hex. */
export function prefixed(cell: Cell | undefined): string {
  return `0x${String(cell).toLowerCase()}`;
}
