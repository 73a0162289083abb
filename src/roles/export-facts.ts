import { encodeMarketSnapshot } from "../api/bulk/market-snapshot.ts";
import { AppError } from "../base/errors.ts";
import { exportLake } from "../lake/export-lake.ts";
import type { LakeExport } from "../lake/lake-export.ts";
import type { Manifest } from "../lake/manifest.ts";
import { toIdentity } from "../storage/directory/identity.ts";
import type { IndexedFacts } from "../views/indexed-facts.ts";
import type { MarketState } from "../views/markets/market-state.ts";
import type { RoleStart } from "./open-parts.ts";

type FactsExport = Pick<
  LakeExport,
  "folder" | "from" | "to" | "tablesAtOnce" | "signal" | "onDay"
> & {
  readonly facts: Pick<IndexedFacts, "coverage" | "engine">;
  readonly state: MarketState;
  /** In place of the configured key. */
  readonly signKey?: LakeExport["signKey"];
};

/** Adds the final days of the stored facts to a lake, signed with the configured key. Throws as `exportLake` does. */
export function exportFacts(
  { config, contracts }: Pick<RoleStart, "config" | "contracts">,
  { facts: { coverage, engine }, state, ...request }: FactsExport,
): Promise<Manifest> {
  if (coverage === null) throw new AppError("NOT_FOUND", "nothing is stored yet");
  const { chainId, lakeSignKey } = config;
  return exportLake({
    ...request,
    engine,
    coverage,
    identity: toIdentity(chainId, contracts),
    getToken: (tokenId) => state.directory.getToken(tokenId),
    encodeMarkets: () => encodeMarketSnapshot(state),
    signKey: request.signKey ?? lakeSignKey,
  });
}
