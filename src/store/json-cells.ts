import { assert } from "../base/assert.ts";
import { parseMicros } from "../base/decimal.ts";
import type { Cell } from "./engine.ts";

/** A `hex(...)` cell as `0x` hex. */
export function prefixed(cell: Cell | undefined): string {
  return `0x${String(cell).toLowerCase()}`;
}

/** A Decimal(38, 6) cell as micros. */
export function microsOf(cell: Cell | undefined): bigint {
  const micros = parseMicros(String(cell));
  assert(micros !== null, "a decimal column holds a decimal");
  return micros;
}
