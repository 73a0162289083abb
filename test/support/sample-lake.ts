/** A lake with two files, which hold no Parquet: what serves them does not read them. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Manifest } from "../../src/lake/manifest.ts";

/** The parameters of the path of a file. */
export const sampleLakeFile = {
  table: "fills",
  day: "date=2026-04-28",
  part: "part-0.parquet",
} as const;

const block = {
  number: 86_030_899,
  hash: `0x${"8d".repeat(32)}`,
  timestamp: 1_777_376_164,
};
const file = {
  path: Object.values(sampleLakeFile).join("/"),
  rows: 1243,
  bytes: 96_512,
  sha256: "5f".repeat(32),
  first_seq: 86_030_000_000_007,
  last_seq: 86_030_899_000_311,
};
const markets = { ...file, path: "markets/snapshot.parquet", first_seq: null, last_seq: null };
const manifest: Manifest = {
  layout: 1,
  created_by: "oddwire 0.1.0",
  chain_id: 137,
  contracts: "a1".repeat(32),
  events: "b2".repeat(32),
  first_block: 86_030_000,
  last_block: block,
  slices: [
    { date: "2026-04-28", from_block: 86_030_000, last_block: block, files: { fills: file } },
  ],
  repairs: [],
  markets,
};

/** Writes the lake below a folder. Returns its own folder. */
export async function writeSampleLake(folder: string): Promise<string> {
  const lake = join(folder, "lake");
  const texts = {
    "manifest.json": JSON.stringify(manifest),
    [file.path]: "PAR1",
    [markets.path]: "PAR1",
  };
  for (const [path, text] of Object.entries(texts)) {
    await mkdir(dirname(join(lake, path)), { recursive: true });
    await writeFile(join(lake, path), text);
  }
  return lake;
}
