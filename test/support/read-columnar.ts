/** Reads columnar files with the engine, which shares no code with the encoders. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine } from "../../src/storage/engine/engine.ts";
import type { Row } from "./open-data-server.ts";

export type ColumnarFormat = "Parquet" | "ArrowStream";

/** Returns the rows of a file in order. */
export async function readColumnar(
  engine: Engine,
  format: ColumnarFormat,
  bytes: Uint8Array,
): Promise<{
  readonly columns: readonly (readonly [string, string])[];
  readonly rows: readonly Row[];
}> {
  const folder = await mkdtemp(join(tmpdir(), "oddwire-columnar-"));
  try {
    const path = join(folder, "file");
    await writeFile(path, bytes);
    const source = `file('${path}', ${format})`;
    const described = await engine.query(`DESCRIBE TABLE ${source}`);
    const columns = described.map(([name, type]) => [String(name), String(type)] as const);
    const read = await engine.query(`SELECT * FROM ${source}`);
    const rows = read.map((cells) =>
      Object.fromEntries(columns.map(([name], index) => [name, cells[index]])),
    );
    return { columns, rows };
  } finally {
    await rm(folder, { recursive: true });
  }
}
