import { isDeepStrictEqual } from "node:util";
import { EndpointError } from "../chain/chain-errors.ts";
import type { ChainSource } from "../chain/sync/chain-source.ts";
import type { Reread, RereadRequest } from "../chain/sync/reread-blocks.ts";
import type { LogDecoder } from "../contracts/log-decoder.ts";
import { type BlockFacts, deriveBlockFacts } from "../market/block-facts.ts";
import { type FactSummary, summarizeLines, toLines } from "../storage/recovery/fact-fingerprint.ts";

/** The blocks to read again, and a summary of the facts stored for them. */
export type FactsRequest = RereadRequest & { readonly stored: FactSummary };

/** The answer of one endpoint about a range, decoded to facts. Plain data. */
export type FactsReading = Omit<Reread, "blocks"> & {
  readonly kind: "read";
  /** `null` when they equal the stored facts. */
  readonly facts: readonly BlockFacts[] | null;
};

/** No endpoint was available, or the one asked failed: retry later. */
export type NoReading = { readonly kind: "unread"; readonly reason: string };

/** Reads final blocks again and derives their facts, as indexing does. */
export async function rereadFacts(
  { source, decoder }: { readonly source: ChainSource<unknown>; readonly decoder: LogDecoder },
  request: FactsRequest,
): Promise<FactsReading | NoReading> {
  try {
    const { blocks, ...read } = await source.reread(request);
    const facts = blocks.map((block) => deriveBlockFacts(block, decoder));
    const isStored = isDeepStrictEqual(summarizeLines(toLines(facts)), request.stored);
    return { kind: "read", ...read, facts: isStored ? null : facts };
  } catch (thrown) {
    if (!(thrown instanceof EndpointError)) throw thrown;
    return { kind: "unread", reason: thrown.message };
  }
}
