import { chainLimits } from "../../base/config/limits.ts";
import { mapInOrder } from "../../base/time/map-in-order.ts";
import { EndpointError, nullIfFailed } from "../chain-errors.ts";
import type { Header } from "../parse/parse-header.ts";
import { parseLogs } from "../parse/parse-log.ts";
import type { Block, BlockRange, RawLog } from "../raw-log.ts";
import type { Endpoint } from "../rpc/endpoint.ts";
import { getResult } from "../rpc/json-rpc.ts";
import { wrongLogsError } from "../verify/block-logs.ts";
import { checkLinks, checkLogs } from "../verify/check-logs.ts";
import { fetchHeaders } from "../verify/fetch-headers.ts";
import { logsCall } from "../verify/log-filter.ts";
import { areTimesConsistent, assembleBlocks } from "./assemble-blocks.ts";
import type { ReadParts } from "./chain-parts.ts";

/** The answer of an endpoint about a range: the headers at both ends, and the result of `eth_getLogs`. */
type RangeAnswer = BlockRange & {
  readonly first: Header;
  readonly last: Header;
  readonly logs: unknown;
};

type Headers = ReadonlyMap<number, Header>;

/** Blocks, and a function that releases their logs (see `ParsedLogs`). */
type ReadBlocks = { readonly blocks: readonly Block[]; readonly release: () => void };

/** Checks an answer about a range and assembles its blocks. Throws an `EndpointError` when a check (R4) fails. */
export async function readRange(
  parts: ReadParts,
  endpoint: Endpoint,
  answer: RangeAnswer,
): Promise<ReadBlocks> {
  const { from, to, first, last } = answer;
  const { filter } = parts.blockLogs;
  const parsed = parseLogs(answer.logs);
  const { logs } = parsed;
  const headers = new Map([first, last].map((header) => [header.number, header]));
  const expected = { from, to, headers, filter };
  checkLogs(logs, expected);
  const areTimesUsed = endpoint.state.areLogTimesBelieved && areTimesConsistent(logs, headers);
  const requested = new Set([
    ...youngBlocks(endpoint, answer),
    ...(areTimesUsed ? pickSample(logs, parts.pool.context.random) : logs).map(
      (log) => log.blockNumber,
    ),
  ]);
  const missing = [...requested].filter((number) => !headers.has(number));
  if (missing.length > 0) {
    for (const header of await fetchHeaders(endpoint, missing)) headers.set(header.number, header);
    checkLogs(logs, expected);
    if (areTimesUsed && !areTimesConsistent(logs, headers)) {
      endpoint.distrustLogTimes();
      throw new EndpointError("inconsistent", "the times of logs are not those of their blocks");
    }
  }
  checkLinks(headers.values());
  const check = { endpoint, headers, logs };
  await checkBlooms(parts, check);
  if (logs.length === 0) await askAnother(parts, endpoint, answer);
  const blocks = assembleBlocks(logs, headers);
  const release = (): void => {
    blocks.length = 0;
    parsed.release();
  };
  return { blocks, release };
}

/** In some of the ranges, picks one log whose time is compared with the header of its block. */
function pickSample(logs: readonly RawLog[], random: () => number): readonly RawLog[] {
  const isSampled = random() < chainLimits.sampledRangesShare;
  const sampled = isSampled ? logs[Math.floor(random() * logs.length)] : undefined;
  return sampled === undefined ? [] : [sampled];
}

/** Throws when the bloom of a header shows that logs are missing from the answer, or are not of the block. */
async function checkBlooms(
  { blockLogs }: ReadParts,
  { endpoint, headers, logs }: { endpoint: Endpoint; headers: Headers; logs: readonly RawLog[] },
): Promise<void> {
  const ofHeaders = logs.filter((log) => headers.has(log.blockNumber));
  const getLogs = Map.groupBy(ofHeaders, (log) => log.blockNumber);
  const check = async (header: Header): Promise<void> => {
    const reported = getLogs.get(header.number) ?? [];
    const confirmed = await blockLogs.confirm(endpoint, header, reported);
    if (confirmed !== reported) throw wrongLogsError(header, reported, confirmed);
  };
  const checks = mapInOrder(headers.values(), check, chainLimits.proofsAtOnceMax);
  for await (const _ of checks);
}

/** Asks another endpoint about an empty range, since an empty answer is easily wrong and cheap to check. */
async function askAnother(
  { pool, blockLogs }: ReadParts,
  endpoint: Endpoint,
  range: BlockRange,
): Promise<void> {
  const other = pool.finalAt(range.to).find((one) => one !== endpoint);
  if (other === undefined) return;
  const hasLogs = other
    .request([logsCall(range, blockLogs.filter)])
    .then(({ replies }) => parseLogs(getResult(replies[0])).logs.length > 0);
  if (await nullIfFailed(hasLogs)) {
    throw new EndpointError("inconsistent", "an empty range is not empty elsewhere");
  }
}

/** The blocks near the head. A node may not have indexed their logs yet, so the bloom of each is checked. */
function youngBlocks(endpoint: Endpoint, { from, to }: BlockRange): number[] {
  const head = endpoint.state.view?.head.number ?? 0;
  const first = Math.max(from, head - chainLimits.youngBlocks);
  return Array.from({ length: Math.max(0, to - first + 1) }, (_, index) => first + index);
}
