import { hash } from "node:crypto";
import { ConfigError } from "../../base/config/config.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import { LogDecoder } from "../../contracts/log-decoder.ts";

/** The chain, contracts and events that stored facts derive from. Facts of different identities must not mix. */
export type FactsIdentity = {
  readonly chain_id: number;
  /** Hash of the contracts: addresses, kinds, generations, collateral. Trust lists are not in it and may change. */
  readonly contracts: string;
  /** Hash of the list of decoded events, marked when those of wallets are among them. */
  readonly events: string;
};

const walletsMark = "-wallets";

/** Returns the identity of the facts that a configuration indexes. */
export function toIdentity(chainId: number, contracts: Contracts): FactsIdentity {
  return {
    chain_id: chainId,
    contracts: getHash(contracts),
    events: hashOfLines(new LogDecoder(contracts).events) + (contracts.wallets ? walletsMark : ""),
  };
}

/** Throws `ConfigError` when stored facts have another identity than ours. `setting` is the setting to change. */
export function refuseOtherFacts(
  stored: FactsIdentity,
  expected: FactsIdentity,
  { location, setting }: { readonly location: string; readonly setting: string },
): void {
  if (stored.chain_id !== expected.chain_id) {
    throw new ConfigError([
      `${location} holds chain ${stored.chain_id}, ODDWIRE_CHAIN_ID is ${expected.chain_id}; set ODDWIRE_CHAIN_ID=${stored.chain_id}, or use another ${setting}`,
    ]);
  }
  if (stored.contracts !== expected.contracts) {
    throw new ConfigError([
      `${location} was indexed with another list of contracts; set the ODDWIRE_CONTRACTS_FILE that it was indexed with, or use another ${setting}`,
    ]);
  }
  if (hasWallets(stored) !== hasWallets(expected)) {
    throw new ConfigError([
      `${location} was indexed with ODDWIRE_WALLETS=${hasWallets(stored) ? "on" : "off"}, which a later start cannot change; ` +
        `set the same, or index again with an empty ${setting}`,
    ]);
  }
  if (stored.events !== expected.events) {
    throw new ConfigError([
      `${location} was indexed by a version that decodes other events, which a later start cannot add; ` +
        `index again with an empty ${setting}, or run the version that made it`,
    ]);
  }
}

/** Whether the facts include those of wallets. */
export function hasWallets({ events }: Pick<FactsIdentity, "events">): boolean {
  return events.endsWith(walletsMark);
}

function getHash({ byAddress, collateral, wrappedCollateral }: Contracts): string {
  const lines = [...byAddress.values()].map((contract) => JSON.stringify(contract)).toSorted();
  return hashOfLines([collateral, wrappedCollateral ?? "", ...lines]);
}

function hashOfLines(lines: readonly string[]): string {
  return hash("sha256", lines.join("\n"));
}
