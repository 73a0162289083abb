import { chainLimits } from "./limits.ts";
import { getList, isUrl, oneWord, setting, wholeNumber } from "./setting.ts";

/** The settings of the chain and of the endpoints that it is read from. */
export const chainSettings = {
  rpcUrls: setting<readonly string[]>({
    variable: "ODDWIRE_RPC_URLS",
    flag: "rpc-url",
    description: "JSON-RPC endpoints of the chain; required to serve",
    form: "a comma list of http, https, ws or wss URLs",
    fallback: [],
    read: getList(isRpcUrl),
    // URLs of providers contain the caller's secret in the path or the query.
    show: (urls) => urls.map((url) => new URL(url).host).join(","),
  }),
  rpcCallsPerSecond: setting<number | null>({
    variable: "ODDWIRE_RPC_CALLS_PER_SECOND",
    description: "The most JSON-RPC calls made to each endpoint in any second; unset for no limit",
    ...wholeNumber({ min: 1, max: 100_000, fallback: 0 }),
    fallback: null,
  }),
  rpcMinority: setting<"stop" | "follow">({
    variable: "ODDWIRE_RPC_MINORITY",
    description:
      "When the endpoints that respond and follow the head have been no majority for 10 minutes, finality waits for the others (stop) or goes on without them (follow)",
    ...oneWord("stop", "follow"),
  }),
  blocksAheadSecondsMax: setting({
    variable: "ODDWIRE_BLOCKS_MAX_AHEAD_SECONDS",
    description:
      "How far the time of a block may be ahead of this machine's clock, in seconds; an endpoint that exceeds it is not believed",
    ...wholeNumber({ min: 1, max: 315_360_000, fallback: chainLimits.aheadSecondsMax }),
  }),
  chainId: setting({
    variable: "ODDWIRE_CHAIN_ID",
    description: "The chain to index; an endpoint of another chain is refused",
    ...wholeNumber({ min: 1, max: Number.MAX_SAFE_INTEGER, fallback: 137 }),
  }),
  startBlock: setting<number | "latest" | "genesis">({
    variable: "ODDWIRE_START_BLOCK",
    flag: "start-block",
    description: "Where indexing starts; genesis is the first block of the oldest exchange",
    form: "a block number, latest or genesis",
    fallback: "latest",
    read: (text) => (text === "latest" || text === "genesis" ? text : readBlockNumber(text)),
  }),
  contractsFile: setting<string | null>({
    variable: "ODDWIRE_CONTRACTS_FILE",
    description: "JSON list of contracts in place of the built-in list for Polygon",
    form: "a path",
    fallback: null,
    read: (text) => text,
  }),
};

function readBlockNumber(text: string): number | null {
  return wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER, fallback: 0 }).read(text);
}

function isRpcUrl(text: string): boolean {
  return isUrl(text, /^(https?|wss?):$/);
}
