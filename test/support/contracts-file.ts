import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { polygonContracts } from "../../src/contracts/polygon-contracts.ts";
import { readContracts } from "../../src/roles/read-contracts.ts";
import { tieDataDirectory } from "../../src/storage/directory/data-directory.ts";

/** Writes a contracts file with Polygon's contracts, all of which exist from a block on, and returns its path. */
export async function writeContractsFile(folder: string, startBlock = 0): Promise<string> {
  const contracts = polygonContracts.contracts.map((entry) => ({
    ...entry,
    start_block: startBlock,
  }));
  const path = join(folder, "contracts.json");
  await writeFile(path, JSON.stringify({ ...polygonContracts, contracts }));
  return path;
}

/**
 * Writes that file, and ties a data directory to it, in which facts are stored without the service. Returns the path of
 * the file.
 */
export async function tieToContracts(
  folder: string,
  { dataDir, startBlock }: { readonly dataDir: string; readonly startBlock: number },
): Promise<string> {
  const path = await writeContractsFile(folder);
  const contracts = await readContracts({ contractsFile: path, wallets: "on" });
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await tieDataDirectory({ config: { chainId: 137, dataDir }, contracts }, startBlock);
  return path;
}
