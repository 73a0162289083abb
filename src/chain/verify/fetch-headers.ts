import { chainLimits } from "../../base/config/limits.ts";
import type { Hash } from "../../base/ids.ts";
import { EndpointError, nullIfFailed } from "../chain-errors.ts";
import type { Header } from "../parse/parse-header.ts";
import { formatQuantity } from "../parse/parse-hex.ts";
import type { TimedBlock } from "../raw-log.ts";
import type { RequestTimeout } from "../rpc/adaptive-timeout.ts";
import type { Endpoint } from "../rpc/endpoint.ts";
import type { EndpointPool } from "../rpc/endpoint-pool.ts";
import type { RpcCall, RpcReply } from "../rpc/json-rpc.ts";

/** The call for a header by number. Its transactions come as hashes only. */
export function headerCall(number: number): RpcCall {
  return { method: "eth_getBlockByNumber", params: [formatQuantity(number), false] };
}

/** Reads the header in a reply to `headerCall(number)`. Throws `not_yet` when the node does not have it. */
export function readHeaderReply(
  endpoint: Endpoint,
  reply: RpcReply | undefined,
  number: number,
): Header {
  const header = readHeaderIfThere(endpoint, reply, number);
  if (header === null) throw missingBlock(number);
  return header;
}

/** Fetches one header by number; `null` when the endpoint does not have it (yet). */
export async function fetchHeader(
  endpoint: Endpoint,
  number: number,
  timeout?: RequestTimeout,
): Promise<Header | null> {
  const [header = null] = await fetchKnownHeaders(endpoint, [number], timeout);
  return header;
}

/** Fetches the hash that an endpoint has at `number`; `null` when it has no such block, or does not answer. */
export async function fetchHash(
  endpoint: Endpoint,
  number: number,
  timeout?: RequestTimeout,
): Promise<Hash | null> {
  const header = await nullIfFailed(fetchHeader(endpoint, number, timeout));
  return header?.hash ?? null;
}

/** Returns whether most endpoints that answer and have the block have another time for it. */
export async function isTimeOutvoted(
  { endpoints }: Pick<EndpointPool, "endpoints">,
  { number, hash, timestamp }: TimedBlock,
): Promise<boolean> {
  const reachable = endpoints.filter((endpoint) => endpoint.isReachable);
  const headers = await Promise.all(
    reachable.map((one) => nullIfFailed(fetchHeader(one, number, one.smallTimeout))),
  );
  const times = headers.flatMap((header) => (header?.hash === hash ? header.timestamp : []));
  return 2 * times.filter((time) => time !== timestamp).length > times.length;
}

/** Fetches a few headers by number in one batch; `null` for each that the endpoint does not have (yet). */
export async function fetchKnownHeaders(
  endpoint: Endpoint,
  numbers: readonly number[],
  timeout?: RequestTimeout,
): Promise<(Header | null)[]> {
  const { replies } = await endpoint.request(numbers.map(headerCall), timeout);
  return numbers.map((number, index) => readHeaderIfThere(endpoint, replies[index], number));
}

/**
 * Fetches headers by number, in the order of `numbers`. Each node behind a load balancer can lack other blocks, so
 * missing headers are requested again. This ends when `requestTriesMax` requests in a row have returned none of them.
 * If the first request returns none, it is not repeated. Throws an `EndpointError` if a header is missing.
 */
export async function fetchHeaders(
  endpoint: Endpoint,
  numbers: readonly number[],
  timeout?: RequestTimeout,
): Promise<Header[]> {
  const found = new Map<number, Header>();
  let missing = numbers;
  for (let fruitless = 0; missing.length > 0; ) {
    const batch = missing.slice(0, chainLimits.headersPerBatchMax);
    const calls = batch.map(headerCall);
    const { replies } =
      timeout === undefined
        ? await endpoint.requestWithRetries(calls)
        : await endpoint.request(calls, timeout);
    const foundBefore = found.size;
    for (const [index, number] of batch.entries()) {
      const header = readHeaderIfThere(endpoint, replies[index], number);
      if (header !== null) found.set(number, header);
    }
    missing = missing.filter((number) => !found.has(number));
    fruitless = found.size > foundBefore ? 0 : fruitless + 1;
    const isHopeless = found.size === 0 || fruitless === chainLimits.requestTriesMax;
    if (isHopeless && missing[0] !== undefined) throw missingBlock(missing[0]);
  }
  return numbers.flatMap((number) => found.get(number) ?? []);
}

/** Reads the header in a reply; `null` when the node does not have it (yet). */
function readHeaderIfThere(
  endpoint: Endpoint,
  reply: RpcReply | undefined,
  number: number,
): Header | null {
  const header = endpoint.readHeader(reply);
  if (header !== null && header.number !== number) {
    throw new EndpointError("inconsistent", `block ${header.number} came instead of ${number}`);
  }
  return header;
}

function missingBlock(number: number): EndpointError {
  return new EndpointError("not_yet", `block ${number} is not known`);
}
