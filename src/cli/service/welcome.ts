import { resolve } from "node:path";
import type { Config } from "../../base/config/config.ts";
import { version } from "../../base/config/version.ts";
import type { IndexingPosition } from "../../roles/serve-role.ts";

const localHosts: readonly string[] = ["127.0.0.1", "::1", "localhost"];

/**
 * Formats what the operator needs first: the URLs of the service, what it indexes, and the first key. A
 * table on a terminal; otherwise one line of JSON.
 */
export function formatWelcome(parts: {
  readonly config: Config;
  readonly url: string;
  readonly indexing: IndexingPosition;
  /** The value of the first key, which is shown only once; `null` when keys existed before. */
  readonly adminKey: string | null;
  readonly isTerminal: boolean;
}): string {
  const { config, url, indexing, adminKey, isTerminal } = parts;
  const facts = {
    listening: url,
    version,
    explorer: `${url}/`,
    docs: `${url}/docs`,
    indexing: getIndexing(config, indexing),
    markets: getMarkets(config, indexing),
    data: resolve(config.dataDir),
    reachable: localHosts.includes(config.host)
      ? "from this machine only (ODDWIRE_HOST)"
      : `from other machines, on ${config.host}`,
    ...(adminKey === null ? {} : { admin_key: adminKey }),
  };
  if (!isTerminal) return `${JSON.stringify(facts)}\n`;
  const { listening: _, version: __, ...fields } = facts;
  const lines = Object.entries(fields).map(
    ([name, value]) => `  ${name.replace("_", " ").padEnd(11)}${value}`,
  );
  const once =
    adminKey === null
      ? []
      : ["", "Save the admin key: it is not shown again. `oddwire keys create` makes more."];
  return `${[`Oddwire ${version}`, "", ...lines, ...once].join("\n")}\n\n`;
}

function getIndexing(
  { chainId, contractsFile, rpcUrls }: Config,
  { firstBlock, storedThrough, head }: IndexingPosition,
): string {
  const what =
    contractsFile === null && chainId === 137 ? "Polymarket on Polygon" : `chain ${chainId}`;
  const latest = head === null ? "the latest block" : `block ${head}, the latest`;
  const first = firstBlock === "latest" ? latest : `block ${firstBlock}`;
  const start = storedThrough === null ? `from ${first}` : `resuming at block ${storedThrough + 1}`;
  const from = storedThrough ?? (firstBlock === "latest" ? head : firstBlock);
  const behind = head === null || from === null ? 0 : Math.max(0, head - from);
  const hosts = [...new Set(rpcUrls.map((url) => new URL(url).host))].join(", ");
  const lag = behind === 0 ? "" : `, ${behind} blocks behind the head`;
  return `${what} ${start}${lag}, through ${hosts}`;
}

function getMarkets({ venue }: Config, { isWhole }: IndexingPosition): string {
  if (isWhole) return "all";
  const newer = "created after the first indexed block";
  return venue === "none"
    ? `${newer}; --venue polymarket names older ones, an earlier --start-block or \`oddwire import --lake\` has them all`
    : `${newer}, and older ones that are traded, named by Polymarket`;
}
