import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { polygonContracts } from "../../src/contracts/polygon-contracts.ts";

/** Writes a contracts file with Polygon's contracts for a chain that starts at block 0, and returns its path. */
export async function writeContractsFile(folder: string): Promise<string> {
  const contracts = polygonContracts.contracts.map((entry) => ({ ...entry, start_block: 0 }));
  const path = join(folder, "contracts.json");
  await writeFile(path, JSON.stringify({ ...polygonContracts, contracts }));
  return path;
}
