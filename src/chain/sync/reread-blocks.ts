import { EndpointError } from "../chain-errors.ts";
import { type Block, type BlockRange, type TimedBlock, toTimedBlock } from "../raw-log.ts";
import type { Endpoint } from "../rpc/endpoint.ts";
import { checkLinks } from "../verify/check-logs.ts";
import { fetchHeaders } from "../verify/fetch-headers.ts";
import type { ReadParts } from "./chain-parts.ts";
import type { RangeFetcher } from "./range-fetcher.ts";

/**
 * How final blocks are read again:
 * - `logs`: as they are indexed, by range and with every check of R4
 * - `receipts`: block by block, from receipts that account for every bit of the header's bloom, at three
 *   calls a block. A node that leaves logs out of ranges cannot leave them out here
 */
type RereadWay = "logs" | "receipts";

/** The blocks to read again, how, and the endpoints not to ask. */
export type RereadRequest = BlockRange & {
  readonly way: RereadWay;
  /** Hosts not to ask, as named in the status of endpoints. */
  readonly excludedHosts: readonly string[];
};

/** The answer of one endpoint about a range. */
export type Reread = {
  readonly host: string;
  /** All blocks that have logs, and possibly others. */
  readonly blocks: readonly Block[];
  readonly last: TimedBlock;
  /** Calls made to the endpoint, without those that resolve mismatches. */
  readonly calls: number;
};

/** Calls for each part of a range, or for each block by its receipts. */
const callsEach = 3;

type RereadParts = ReadParts & { readonly ranges: RangeFetcher<unknown> };

/**
 * Reads final blocks again, from a random endpoint that can be asked now and for which the range is final. Throws an
 * `EndpointError` when there is none, or when it fails: ask again later.
 */
export async function rereadBlocks(parts: RereadParts, request: RereadRequest): Promise<Reread> {
  const { from, to, way, excludedHosts } = request;
  const able = parts.pool.finalAt(to).filter(({ host }) => !excludedHosts.includes(host));
  // A random one, not the best: a faulty endpoint must not escape the audit because it is slow.
  const endpoint = able[Math.floor(parts.pool.context.random() * able.length)];
  if (endpoint === undefined) {
    throw new EndpointError("unavailable", "no endpoint can be asked about these blocks now");
  }
  // A failed check here does not count against the endpoint, so that indexing can still use it.
  const readAgain = way === "logs" ? readRange : readReceipts;
  return { host: endpoint.host, ...(await readAgain(parts, endpoint, { from, to })) };
}

async function readRange({ ranges }: RereadParts, endpoint: Endpoint, range: BlockRange) {
  const parts = await ranges.fetchFrom(endpoint, range);
  const last = parts.at(-1)?.last;
  if (last === undefined) throw new EndpointError("unavailable", "the range is empty");
  return { blocks: parts.flatMap(({ blocks }) => blocks), last, calls: parts.length * callsEach };
}

async function readReceipts(
  { blockLogs }: RereadParts,
  endpoint: Endpoint,
  { from, to }: BlockRange,
) {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const headers = await fetchHeaders(endpoint, numbers);
  checkLinks(headers);
  const blocks: Block[] = [];
  for (const header of headers) blocks.push(await blockLogs.gather(endpoint, header));
  const last = headers.at(-1);
  if (last === undefined) throw new EndpointError("unavailable", "the range is empty");
  return { blocks, last: toTimedBlock(last), calls: headers.length * callsEach };
}
