/** Classifies errors of providers. There is no standard: one code has several meanings, so the text decides. */
import type { Range } from "../../base/range.ts";
import { EndpointError } from "../chain-errors.ts";
import type { RpcReply } from "./json-rpc.ts";

export type RpcErrorReply = Extract<RpcReply, { kind: "error" }>;

export type ProviderVerdict =
  /** Ask for fewer blocks. Both hints can be `null` or useless. */
  | {
      readonly kind: "too_large";
      readonly capBlocks: number | null;
      readonly suggested: Range<number> | null;
    }
  /** Send fewer calls in one batch; `null` when it does not say how many. */
  | { readonly kind: "batch_too_large"; readonly callsMax: number | null }
  /** The node took too long. Asking for fewer blocks can help. */
  | { readonly kind: "too_slow" }
  | { readonly kind: "rate_limited" }
  /** The node does not have a block that was asked for: not yet, or not any more. */
  | { readonly kind: "not_yet" }
  | { readonly kind: "unhealthy" }
  | { readonly kind: "unsupported" }
  | { readonly kind: "unknown" };

type Row = {
  /** The meanings from `too_slow` on do not count if the text also matches a row about size. */
  readonly means:
    | "cap"
    | "batch"
    | "suggestion"
    | "too_large"
    | "too_slow"
    | "rate_limited"
    | "not_yet"
    | "unhealthy"
    | "unsupported";
  /**
   * Its groups: for a cap, the number of blocks allowed (`10000`, `10,000` or `10k`); for a batch, the number of calls
   * allowed, if named; for a suggestion, the first and the last block that would work.
   */
  readonly pattern: RegExp;
  /** The cap, where the provider's documentation names it and the text does not. */
  readonly blocks?: number;
};

const rows: readonly Row[] = [
  // Erigon; dRPC; many gateways, each with its own text
  { means: "batch", pattern: /batch limit ([0-9,]+k?) exceeded/i },
  { means: "batch", pattern: /batch of more than ([0-9,]+k?) requests/i },
  {
    means: "batch",
    pattern: /batch size (?:is )?(?:too large|exceed\w*).*?max\w* (?:is )?([0-9,]+k?)/i,
  },
  // geth; Nethermind; Besu; nodes that read no batches
  { means: "batch", pattern: /batch (?:is )?too large|batch size|requests in batch exceeds/i },
  // QuickNode; Gnosis
  { means: "batch", pattern: /batch limit|too many .{1,40} in (?:the |a |one )?batch/i },
  {
    means: "batch",
    pattern: /batch(?:es|ing|ed)?(?: requests?| calls?)? (?:is |are )?(?:not|disabled)/i,
  },
  // Erigon, BSC
  { means: "cap", pattern: /maximum is set to ([0-9,]+k?)/i },
  { means: "cap", pattern: /max range: ([0-9,]+k?)/i },
  { means: "cap", pattern: /maximum allowed number of requested blocks is ([0-9,]+k?)/i },
  // QuickNode, Blast, BlockPI; 1RPC as "0 - 50 blocks range". Texts about limits per second must not match.
  { means: "cap", pattern: /limited to (?:an? )?(?:0 ?- ?)?([0-9,]+k?)[ -]?(?:blocks?|range)/i },
  // Alchemy
  { means: "cap", pattern: /up to an? ([0-9,]+k?) block range/i },
  { means: "cap", pattern: /range allowed for your plan \([0-9,]+k? > ([0-9,]+k?)\)/i },
  // Coinbase
  { means: "cap", pattern: /limit the query to at most ([0-9,]+k?) blocks/i },
  // PublicNode and relatives
  { means: "cap", pattern: /max(?:imum)? block range:? ([0-9,]+k?)/i },
  // Ronin; Mantle; Sei; Sonic; Cronos and Kava; Taiko, within `data`
  { means: "cap", pattern: /range [0-9,]+ exceeds the limit of ([0-9,]+k?)/i },
  { means: "cap", pattern: /block range (?:greater|larger|more) than ([0-9,]+k?)/i },
  { means: "cap", pattern: /maximum allowed is ([0-9,]+k?) blocks/i },
  { means: "cap", pattern: /wide blocks? range, the limit is ([0-9,]+k?)/i },
  { means: "cap", pattern: /blocks? distance: ([0-9,]+k?)/i },
  { means: "cap", pattern: /"maxAllowedRange":([0-9]+)/i },
  // Merkle
  { means: "cap", pattern: /max is ([0-9,]+k?) blocks/i },
  { means: "cap", pattern: /query must be smaller than size ([0-9,]+k?)/i },
  // Infura
  { means: "cap", pattern: /range [0-9,]+ exceeds limit of ([0-9,]+k?)/i },
  // dRPC. It also refuses ranges below the limit that it names; then only another endpoint helps.
  { means: "cap", pattern: /ranges over ([0-9,]+k?) blocks are not supported/i },
  // Ankr
  { means: "cap", pattern: /block range is too wide/i, blocks: 3_000 },
  // Infura and zkSync, then Alchemy
  { means: "suggestion", pattern: /try with this block range \[(0x[0-9a-f]+), ?(0x[0-9a-f]+)\]/i },
  { means: "suggestion", pattern: /range should work: \[(0x[0-9a-f]+), ?(0x[0-9a-f]+)\]/i },
  // Reth, in decimals; Infura, within `data`
  { means: "suggestion", pattern: /retry with the range ([0-9]+) ?- ?([0-9]+)/i },
  { means: "suggestion", pattern: /"from":"(0x[0-9a-f]+)".*"to":"(0x[0-9a-f]+)"/i },
  { means: "too_large", pattern: /query returned more than [0-9,]+k? results/i },
  { means: "too_large", pattern: /query exceeds max results/i },
  { means: "too_large", pattern: /logs matched by query exceeds limit/i },
  { means: "too_large", pattern: /response (?:is |size )?too (?:large|big)/i },
  { means: "too_large", pattern: /response size (?:should not|exceeded)/i },
  {
    means: "too_large",
    pattern: /(?:blocks?|requested) range (?:is )?too (?:large|big|wide|high)/i,
  },
  { means: "too_large", pattern: /query exceeds (?:max(?:imum)? )?(?:block )?range/i },
  {
    means: "too_large",
    pattern: /too many (?:blocks|logs|results)|more than allowed number of logs/i,
  },
  { means: "too_large", pattern: /^HTTP 413/ },
  // Chainstack
  { means: "too_large", pattern: /block range limit exceeded/i },
  { means: "not_yet", pattern: /beyond current head|invalid block range(?: params)?$/i },
  // geth, Nethermind, Erigon: the block of a hash, or one end of a range, is missing
  {
    means: "not_yet",
    pattern: /unknown block|block not found|header not found|resource not found/i,
  },
  { means: "not_yet", pattern: /(?:cannot|could not) be found/i },
  // geth, Erigon, PublicNode: data this old is not kept, or not for every client
  { means: "not_yet", pattern: /pruned|archive request|data before .* is not available/i },
  { means: "unhealthy", pattern: /no backend is currently healthy|temporarily unavailable/i },
  // Infura, 1RPC, Chainstack, Alchemy and QuickNode, each with its own text
  {
    means: "rate_limited",
    pattern: /rate.?limit|too many requests|request limit|compute units|throughput|call limit/i,
  },
  {
    means: "rate_limited",
    pattern: /request rate|usage limit|\brps\b|per second|\/sec\b|quota|capacity|credits/i,
  },
  // geth; Infura; dRPC
  { means: "too_slow", pattern: /timed out|time-?out|deadline exceeded|took too long/i },
  { means: "unsupported", pattern: /method not found|does not exist|unsupported method/i },
  { means: "unsupported", pattern: /method is not (?:supported|available|allowed|whitelisted)/i },
];

/** Classifies a provider's error. The numbers in it are hints, never facts. */
export function classifyProviderError(error: RpcErrorReply): ProviderVerdict {
  let isTooLarge = false;
  let capBlocks: number | null = null;
  let suggested: { from: number; to: number } | null = null;
  for (const row of rows) {
    const match = row.pattern.exec(error.message);
    if (match === null) continue;
    switch (row.means) {
      case "batch":
        return { kind: "batch_too_large", callsMax: parseCount(match[1] ?? "") };
      case "cap":
        capBlocks ??= row.blocks ?? parseCount(match[1] ?? "");
        break;
      case "suggestion":
        suggested ??= { from: Number(match[1]), to: Number(match[2]) };
        break;
      case "too_large":
        break;
      case "too_slow":
      case "rate_limited":
      case "not_yet":
      case "unhealthy":
      case "unsupported":
        return isTooLarge ? { kind: "too_large", capBlocks, suggested } : { kind: row.means };
    }
    isTooLarge = true;
  }
  if (isTooLarge) return { kind: "too_large", capBlocks, suggested };
  if (error.code === 429) return { kind: "rate_limited" };
  return { kind: error.code === -32601 ? "unsupported" : "unknown" };
}

/** Parses a count: `"10,000"` -> 10000, `"10k"` -> 10000; `null` when it is not positive. */
function parseCount(text: string): number | null {
  const thousands = /k$/i.test(text);
  const count = Number(text.replaceAll(/[,k]/gi, "")) * (thousands ? 1_000 : 1);
  return Number.isSafeInteger(count) && count > 0 ? count : null;
}

/** Returns the value of a reply. Throws an `EndpointError` for an error object, of the kind that its text means. */
export function resultOf(reply: RpcReply | undefined): unknown {
  if (reply === undefined) throw new EndpointError("malformed", "a reply is missing");
  if (reply.kind === "result") return reply.value;
  const text = `error ${reply.code}: ${reply.message}`;
  switch (classifyProviderError(reply).kind) {
    case "rate_limited":
      throw new EndpointError("rate_limited", text);
    case "not_yet":
      throw new EndpointError("not_yet", text);
    case "unhealthy":
    case "too_slow":
      throw new EndpointError("unavailable", text);
    case "too_large":
    case "batch_too_large":
    case "unsupported":
    case "unknown":
      throw new EndpointError("refused", text);
  }
}
