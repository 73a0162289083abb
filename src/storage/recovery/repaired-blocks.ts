import type { BlockRange } from "../../chain/raw-log.ts";
import type { Engine } from "../engine/engine.ts";

/** Blocks that were repaired, so that what was written from them before, a lake, is written again. */
export type RepairedBlocks = BlockRange & { readonly id: string };

/** Reads all repairs of the store. */
export async function readRepairedBlocks(engine: Engine): Promise<readonly RepairedBlocks[]> {
  const rows = await engine.query("SELECT toString(id), from_block, to_block FROM repaired_blocks");
  return rows.map(([id, from, to]) => ({ id: String(id), from: Number(from), to: Number(to) }));
}

/** Records the ordered repairs. After a crash they can be recorded twice. */
export async function recordRepairedBlocks(engine: Engine): Promise<void> {
  await engine.command(
    "INSERT INTO repaired_blocks SELECT generateUUIDv4(from_block), from_block, to_block FROM repair_orders",
  );
}
