import type { Header } from "../parse/parse-header.ts";
import type { Block, BlockRef } from "../raw-log.ts";
import type { RequestTimeout } from "../rpc/adaptive-timeout.ts";
import type { Endpoint } from "../rpc/endpoint.ts";
import type { RpcReply } from "../rpc/json-rpc.ts";
import type { BlockLogs } from "../verify/block-logs.ts";
import { checkLinks } from "../verify/check-logs.ts";
import { fetchHeaders, headerCall, readHeaderReply } from "../verify/fetch-headers.ts";

type RequestedBlocks = {
  readonly from: number;
  readonly count: number;
  /** The newest block of the endpoint. If only this block is requested, one round trip is saved. */
  readonly newest: BlockRef;
  readonly timeout: RequestTimeout;
  readonly blockLogs: BlockLogs;
};

/** Headers, and the replies to `eth_getLogs` of their blocks. */
type Fetched = { readonly headers: readonly Header[]; readonly replies: readonly RpcReply[] };

/** Fetches linked blocks that are canonical for the endpoint, and their logs by block hash (R1). */
export async function fetchBlocks(
  endpoint: Endpoint,
  requested: RequestedBlocks,
): Promise<readonly Block[]> {
  const { from, count, newest, blockLogs } = requested;
  const isAnnounced = count === 1 && newest.number === from;
  const announced = isAnnounced ? await fetchAnnounced(endpoint, requested) : null;
  const { headers, replies } = announced ?? (await fetchLinked(endpoint, requested));
  const blocks: Block[] = [];
  for (const [index, header] of headers.entries()) {
    blocks.push(await blockLogs.complete(endpoint, header, replies[index]));
  }
  return blocks;
}

/** Fetches the header and the logs of the newest block in one batch; `null` when another block has replaced it. */
async function fetchAnnounced(
  endpoint: Endpoint,
  { newest, timeout, blockLogs }: RequestedBlocks,
): Promise<Fetched | null> {
  const calls = [headerCall(newest.number), blockLogs.call(newest.hash)];
  const { replies } = await endpoint.request(calls, timeout);
  const header = readHeaderReply(endpoint, replies[0], newest.number);
  return header.hash === newest.hash ? { headers: [header], replies: replies.slice(1) } : null;
}

async function fetchLinked(
  endpoint: Endpoint,
  { from, count, timeout, blockLogs }: RequestedBlocks,
): Promise<Fetched> {
  const numbers = Array.from({ length: count }, (_, index) => from + index);
  const headers = await fetchHeaders(endpoint, numbers, timeout);
  checkLinks(headers);
  const calls = headers.map((header) => blockLogs.call(header.hash));
  const { replies } = await endpoint.request(calls, timeout);
  return { headers, replies };
}
