import { readFile } from "node:fs/promises";
import { ConfigError } from "../base/config/config.ts";
import { withoutMark } from "../base/config/setting.ts";
import { toError } from "../base/errors.ts";
import { type Contracts, parseContracts } from "../contracts/contracts.ts";
import { polygonContracts } from "../contracts/polygon-contracts.ts";

/** Reads the contracts of a file; `null` means Polymarket on Polygon. Throws `ConfigError` with every mistake. */
export async function readContracts(path: string | null): Promise<Contracts> {
  const input = path === null ? polygonContracts : await readJson(path);
  const parsed = parseContracts(input);
  if (!("mistakes" in parsed)) return parsed;
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
