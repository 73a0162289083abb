/** Classifies errors of providers. There is no standard: one code has several meanings, so the text decides. */
import { EndpointError, type EndpointErrorKind } from "../chain-errors.ts";

/** What an error of a provider means. */
export type ProviderVerdict =
  /** Ask for fewer blocks. The cap is `null` when it names none, and can be useless. */
  | { readonly kind: "too_large"; readonly capBlocks: number | null }
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

/** Texts that refuse a batch. The group is the number of calls allowed, if the text names it. */
const batchTexts: readonly RegExp[] = [
  // Erigon; dRPC; many gateways, each with its own text
  /batch limit ([0-9,]+k?) exceeded/i,
  /batch of more than ([0-9,]+k?) requests/i,
  /batch size (?:is )?(?:too large|exceed\w*).*?max\w* (?:is )?([0-9,]+k?)/i,
  // geth; Nethermind; Besu; nodes that read no batches
  /batch (?:is )?too large|batch size|requests in batch exceeds/i,
  // QuickNode; Gnosis
  /batch limit|too many .{1,40} in (?:the |a |one )?batch/i,
  /batch(?:es|ing|ed)?(?: requests?| calls?)? (?:is |are )?(?:not|disabled)/i,
];

/** Texts with a cap. The group is the number of blocks allowed: `10000`, `10,000` or `10k`. */
const capTexts: readonly RegExp[] = [
  // Erigon, BSC
  /maximum is set to ([0-9,]+k?)/i,
  /max range: ([0-9,]+k?)/i,
  /maximum allowed number of requested blocks is ([0-9,]+k?)/i,
  // QuickNode, Blast, BlockPI; 1RPC as "0 - 50 blocks range". Texts about limits per second must not match.
  /limited to (?:an? )?(?:0 ?- ?)?([0-9,]+k?)[ -]?(?:blocks?|range)/i,
  // Alchemy. "And no limit on the response size": then larger ranges are allowed too, if they have fewer logs.
  /up to an? ([0-9,]+k?) block range(?! and no limit)/i,
  /range allowed for your plan \([0-9,]+k? > ([0-9,]+k?)\)/i,
  // Coinbase
  /limit the query to at most ([0-9,]+k?) blocks/i,
  // PublicNode and relatives
  /max(?:imum)? block range:? ([0-9,]+k?)/i,
  // Ronin; Mantle; Sei; Sonic; Cronos and Kava; Taiko, within `data`
  /range [0-9,]+ exceeds the limit of ([0-9,]+k?)/i,
  /block range (?:greater|larger|more) than ([0-9,]+k?)/i,
  /maximum allowed is ([0-9,]+k?) blocks/i,
  /wide blocks? range, the limit is ([0-9,]+k?)/i,
  /blocks? distance: ([0-9,]+k?)/i,
  /"maxAllowedRange":([0-9]+)/i,
  // Merkle
  /max is ([0-9,]+k?) blocks/i,
  /query must be smaller than size ([0-9,]+k?)/i,
  // Infura
  /range [0-9,]+ exceeds limit of ([0-9,]+k?)/i,
  // dRPC. It also refuses ranges below the limit that it names; then only another endpoint helps.
  /ranges over ([0-9,]+k?) blocks are not supported/i,
  // Ankr, without a number
  /block range is too wide/i,
];
/** The cap in the documentation of Ankr. */
const ankrCap = "3000";

/** Texts that refuse the size of a range or of its answer, without a number. */
const sizeTexts: readonly RegExp[] = [
  /query returned more than [0-9,]+k? results/i,
  /query exceeds max results/i,
  /logs matched by query exceeds limit/i,
  /response (?:is |size )?too (?:large|big)/i,
  /response size (?:should not|exceeded)/i,
  /(?:blocks?|requested) range (?:is )?too (?:large|big|wide|high)/i,
  /query exceeds (?:max(?:imum)? )?(?:block )?range/i,
  /too many (?:blocks|logs|results)|more than allowed number of logs/i,
  /^HTTP 413/,
  // Chainstack
  /block range limit exceeded/i,
  // Infura and zkSync; Alchemy; Reth; Infura, within `data`. What they suggest fits the logs there, so it is no cap.
  /try with this block range|range should work|retry with the range/i,
  /"from":"0x[0-9a-f]+".*"to":"0x[0-9a-f]+"/i,
];

/** Texts with other meanings, which count only if the text is not about size too. */
const otherTexts = [
  ["not_yet", /beyond current head|invalid block range(?: params)?$/i],
  // geth, Nethermind, Erigon: the block of a hash, or one end of a range, is missing
  ["not_yet", /unknown block|block not found|header not found|resource not found/i],
  ["not_yet", /(?:cannot|could not) be found/i],
  // geth, Erigon, PublicNode: data this old is not kept, or not for every client
  ["not_yet", /pruned|archive request|data before .* is not available/i],
  ["unhealthy", /no backend is currently healthy|temporarily unavailable/i],
  // Infura, 1RPC, Chainstack, Alchemy and QuickNode, each with its own text
  ["rate_limited", /rate.?limit|too many requests|request limit|compute units|throughput/i],
  ["rate_limited", /call limit|request rate|usage limit|\brps\b|per second|\/sec\b/i],
  ["rate_limited", /quota|capacity|credits/i],
  // geth; Infura; dRPC
  ["too_slow", /timed out|time-?out|deadline exceeded|took too long/i],
  ["unsupported", /method not found|does not exist|unsupported method/i],
  ["unsupported", /method is not (?:supported|available|allowed|whitelisted)/i],
] as const;

/** An error object of a provider, in reply to a call. */
export class ProviderError extends EndpointError {
  override name = "ProviderError";
  readonly verdict: ProviderVerdict;

  constructor(code: number, message: string) {
    const verdict = classifyProviderError(code, message);
    super(getKind(verdict), `error ${code}: ${message}`);
    this.verdict = verdict;
  }
}

function getKind({ kind }: ProviderVerdict): EndpointErrorKind {
  if (kind === "rate_limited" || kind === "not_yet") return kind;
  return kind === "unhealthy" || kind === "too_slow" ? "unavailable" : "refused";
}

/** Classifies a provider's error. The numbers in it are hints, never facts. */
export function classifyProviderError(code: number, message: string): ProviderVerdict {
  const batch = firstMatch(batchTexts, message);
  if (batch !== null) return { kind: "batch_too_large", callsMax: parseCount(batch[1]) };
  const cap = firstMatch(capTexts, message);
  if ((cap ?? firstMatch(sizeTexts, message)) !== null) {
    return { kind: "too_large", capBlocks: cap && parseCount(cap[1] ?? ankrCap) };
  }
  const other = otherTexts.find(([, text]) => text.test(message));
  if (other !== undefined) return { kind: other[0] };
  if (code === 429) return { kind: "rate_limited" };
  return { kind: code === -32601 ? "unsupported" : "unknown" };
}

function firstMatch(texts: readonly RegExp[], message: string): RegExpExecArray | null {
  for (const text of texts) {
    const match = text.exec(message);
    if (match !== null) return match;
  }
  return null;
}

/** Parses a count: `"10,000"` -> 10000, `"10k"` -> 10000; `null` when it is not positive. */
function parseCount(text = ""): number | null {
  const thousands = /k$/i.test(text);
  const count = Number(text.replaceAll(/[,k]/gi, "")) * (thousands ? 1_000 : 1);
  return Number.isSafeInteger(count) && count > 0 ? count : null;
}
