import { readFile } from "node:fs/promises";
import { type Config, ConfigError } from "../base/config/config.ts";
import { withoutMark } from "../base/config/setting.ts";
import { toError } from "../base/errors.ts";
import { type Contracts, parseContracts } from "../contracts/contracts.ts";
import { polygonContracts } from "../contracts/polygon-contracts.ts";

/**
 * Reads the contracts of the configured file; without one, those of Polymarket on Polygon. Throws `ConfigError` with
 * every mistake.
 */
export async function readContracts({
  contractsFile,
  wallets,
}: Pick<Config, "contractsFile" | "wallets">): Promise<Contracts> {
  const input = contractsFile === null ? polygonContracts : await readJson(contractsFile);
  const parsed = parseContracts(input);
  if (!("mistakes" in parsed)) return { ...parsed, wallets: wallets === "on" };
  throw new ConfigError(parsed.mistakes.map((mistake) => `ODDWIRE_CONTRACTS_FILE: ${mistake}`));
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(withoutMark(await readFile(path, "utf8")));
  } catch (thrown) {
    const reason = `ODDWIRE_CONTRACTS_FILE cannot be read: ${toError(thrown).message}`;
    throw new ConfigError([reason]);
  }
}
