/**
 * A JSON-RPC node for benchmarks, run in a child process: a chain of any length from a few hundred block templates.
 * Only the block's number, hash and time are filled in, so serving costs little more than sending. A block has about
 * 112 logs, as on Polygon in 2026; one block in twenty prepares a market.
 *
 * `node bench/endless-node.ts BLOCKS [SECONDS [MS]]` prints its URL. Everything up to the head is final. Blocks are
 * SECONDS of chain time apart (default 2). With MS a new block appears every MS milliseconds, 2 seconds of chain time
 * after the previous one. With `TRANSFERS=on` each fill of a maker comes after the transfer of its shares.
 */
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import { polygonContracts } from "../src/contracts/polygon-contracts.ts";
import { getBloom } from "../test/support/build-blocks.ts";

const templatesCount = 200;
const logsPerBlockMin = 110;
const resultsMax = 20_000;
/** A year of blocks ends in the past: `ODDWIRE_BLOCKS_MAX_AHEAD_SECONDS` refuses later ones. In Unix seconds. */
const firstTimestamp = 1_748_736_000;
const secondsPerBlock = Number(process.argv[3] ?? 2);
const blocksBefore = Number(process.argv[2]);
const secondsBetweenNew = 2;
const hasTransfers = process.env["TRANSFERS"] === "on";
/** Numbers have leading zeros, as some nodes send them, so their digits always fit the holes. */
const numberDigits = 7;
const timeDigits = 8;

const topics = {
  orderFilled: "0xd543adfd945773f1a62f74f0ee55a5e3b9b1a28262980ba90b1a89f2ea84d8ee",
  ordersMatched: "0x174b3811690657c217184f89418266767c87e4805d09680c39fc9c031c0cab7c",
  transferSingle: "0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62",
  conditionPreparation: "0xab3760c3bd2bb38b5bcf54dc79802ed67338b4cf29f3054ded67ed24661e4177",
};
const exchange = "0xe111180000d2663c0091e4f400237545b87b996b";
const conditionalTokens = "0x4d97dcd97ec945f40cf65f87097ace5ea0476045";
const oracle = "0x65070be91477460d8a7aeeb94ef92fe056c2f2a7";

/** The items of a JSON list without brackets, and the offsets where the block's number and time are filled in. */
type List = {
  readonly bytes: Buffer;
  readonly numberHoles: readonly number[];
  readonly timeHoles: readonly number[];
};
type Template = {
  readonly logs: List;
  readonly logCount: number;
  readonly transactions: List;
  readonly bloom: string;
};
/** Placeholders for digits in the text of a template. They occur nowhere else in it. */
const numberHole = "N".repeat(numberDigits);
const timeHole = "T".repeat(timeDigits);

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  serve(Number(process.argv[2]), Number(process.argv[4] ?? Number.POSITIVE_INFINITY));
}

function serve(blocks: number, newBlockEveryMs: number): void {
  const templates = Array.from({ length: templatesCount }, (_, index) => getTemplate(index));
  const headNow = (): number => blocks - 1 + Math.floor(performance.now() / newBlockEveryMs);
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const head = headNow();
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
      const one = (call: Call): Buffer[] => [
        Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(call.id)},`),
        ...answer(call, { head, templates }),
        Buffer.from("}"),
      ];
      const list = (calls: readonly Call[]): Buffer[] => [
        Buffer.from("["),
        ...calls.flatMap((call, index) => (index === 0 ? one(call) : [comma, ...one(call)])),
        Buffer.from("]"),
      ];
      const parts = Array.isArray(body) ? list(body as Call[]) : one(body as Call);
      const length = parts.reduce((sum, part) => sum + part.length, 0);
      response.setHeader("content-type", "application/json").setHeader("content-length", length);
      response.cork();
      for (const part of parts) response.write(part);
      response.end();
    });
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    process.stdout.write(`http://127.0.0.1:${address.port}\n`);
  });
}

type Call = { id: number; method: string; params?: unknown[] };

const comma = Buffer.from(",");

/** The newest block, and the templates of all blocks. */
type Served = { readonly head: number; readonly templates: readonly Template[] };

function answer(call: Call, served: Served): readonly Buffer[] {
  const [first] = call.params ?? [];
  if (call.method === "eth_getLogs") {
    return logs(first as LogFilter, served.templates);
  }
  if (call.method === "eth_getBlockByNumber" && call.params?.[1] === true) {
    return wholeBlock(getNumber(first, served.head), served);
  }
  return [Buffer.from(shortAnswer(call.method, first, served))];
}

function shortAnswer(method: string, first: unknown, served: Served): string {
  const { head } = served;
  switch (method) {
    case "eth_chainId":
      return '"result":"0x89"';
    case "eth_blockNumber":
      return `"result":"${hex(head)}"`;
    case "eth_getBlockByNumber":
      return `"result":${header(getNumber(first, head), served)}`;
    case "eth_getBlockByHash":
      return `"result":${header(numberOfHash(String(first)), served)}`;
    default:
      return '"error":{"code":-32601,"message":"the method does not exist"}';
  }
}

/** A block: its header and the transactions of its logs. */
function wholeBlock(number: number, served: Served): readonly Buffer[] {
  const { templates } = served;
  const text = header(number, served);
  const template = templates[number % templates.length];
  if (text === "null" || template === undefined) return [Buffer.from('"result":null')];
  const rest = `${restOfHeader},"transactions":[`;
  const start = Buffer.from(`"result":${text.slice(0, -noTransactions.length)}${rest}`);
  return [start, filled(template.transactions, number), Buffer.from("]}")];
}

type LogFilter = { fromBlock?: string; toBlock?: string; blockHash?: string };

function logs(
  { fromBlock, toBlock, blockHash }: LogFilter,
  templates: readonly Template[],
): readonly Buffer[] {
  const parts: Buffer[] = [Buffer.from('"result":[')];
  let count = 0;
  const [first, last] =
    blockHash === undefined
      ? [Number(fromBlock), Number(toBlock)]
      : [numberOfHash(blockHash), numberOfHash(blockHash)];
  for (let number = first; number <= last; number += 1) {
    const template = templates[number % templates.length];
    if (template === undefined) continue;
    count += template.logCount;
    if (count > resultsMax) {
      const message = `query returned more than ${resultsMax} results`;
      return [Buffer.from(`"error":{"code":-32005,"message":"${message}"}`)];
    }
    if (parts.length > 1) parts.push(comma);
    parts.push(filled(template.logs, number));
  }
  parts.push(Buffer.from("]"));
  return parts;
}

function filled(list: List, number: number): Buffer {
  const bytes = Buffer.from(list.bytes);
  fill(bytes, list.numberHoles, hexDigits(number, numberDigits));
  fill(bytes, list.timeHoles, hexDigits(getTime(number), timeDigits));
  return bytes;
}

function fill(bytes: Buffer, holes: readonly number[], digits: string): void {
  const codes = Buffer.from(digits);
  for (const hole of holes) {
    for (let index = 0; index < codes.length; index += 1) bytes[hole + index] = codes[index] ?? 0;
  }
}

/** Returns the block number at the start of a block hash. */
function numberOfHash(hash: string): number {
  return Number(BigInt(hash) >> 192n);
}

/** Header fields that only matter to an indexer that stores whole headers. */
const restOfHeader = [
  ...["receiptsRoot", "stateRoot", "transactionsRoot", "sha3Uncles", "mixHash"].map(
    (name) => `"${name}":"${word(0n)}"`,
  ),
  ...["gasLimit", "gasUsed", "size", "difficulty", "totalDifficulty", "baseFeePerGas"].map(
    (name) => `"${name}":"0x1"`,
  ),
  `"miner":"${oracle}","nonce":"0x0000000000000000","extraData":"0x"`,
].join(",");
const noLogsBloom = `0x${"0".repeat(512)}`;
const noTransactions = '"transactions":[]}';

function header(number: number | null, { head, templates }: Served): string {
  if (number === null || number > head) return "null";
  const bloom = templates[number % templates.length]?.bloom ?? noLogsBloom;
  return `{"number":"0x${hexDigits(number, numberDigits)}","hash":"${getBlockHash(number)}","parentHash":"${getBlockHash(number - 1)}","timestamp":"${hex(getTime(number))}","logsBloom":"${bloom}",${noTransactions}`;
}

function getTemplate(seed: number): Template {
  const random = generator(seed + 1);
  const texts: string[] = [];
  const bloomed: { readonly address: string; readonly topics: readonly string[] }[] = [];
  const isFull = (): boolean => texts.length >= logsPerBlockMin;
  const transactions = new Map<number, string>();
  const ofBlock = `"blockNumber":"0x${numberHole}","blockHash":"${hashOfDigits(numberHole)}"`;
  const put: Put = ({ address, topics, data }, tx) => {
    const txHash = `0x${(tx + 1).toString(16).padStart(48, "0")}000000000${numberHole}`;
    transactions.set(
      tx,
      `{"hash":"${txHash}","transactionIndex":"${hex(tx)}",${ofBlock},` +
        `"from":"${oracle}","to":"${address}","input":"0x","value":"0x0","nonce":"0x0",` +
        `"gas":"0x5208","gasPrice":"0x1","type":"0x0","v":"0x1b","r":"0x1","s":"0x1"}`,
    );
    bloomed.push({ address, topics });
    texts.push(
      `{"address":"${address}","topics":${JSON.stringify(topics)},"data":"${data}",` +
        `${ofBlock},"blockTimestamp":"0x${timeHole}",` +
        `"transactionHash":"${txHash}","transactionIndex":"${hex(tx)}",` +
        `"logIndex":"${hex(texts.length)}","removed":false}`,
    );
  };
  if (seed % 20 === 0) {
    const condition = word(random.bits(250));
    put(
      {
        address: conditionalTokens,
        topics: [topics.conditionPreparation, condition, padded(oracle), condition],
        data: word(2n),
      },
      0,
    );
  }
  for (let tx = 1; !isFull(); tx += 1) putMatch(put, tx, random);
  return {
    logs: getList(texts),
    logCount: texts.length,
    transactions: getList([...transactions.values()]),
    bloom: getBloom(bloomed),
  };
}

function getList(texts: readonly string[]): List {
  const bytes = Buffer.from(texts.join(","));
  const getHoles = (hole: string) =>
    [...bytes.toString().matchAll(new RegExp(hole, "g"))].map(({ index }) => index);
  return { bytes, numberHoles: getHoles(numberHole), timeHoles: getHoles(timeHole) };
}

type Put = (log: { address: string; topics: readonly string[]; data: string }, tx: number) => void;
type Random = ReturnType<typeof generator>;

/** Writes a match: one to three makers sell to a buyer, then the summary and `OrdersMatched` follow. */
function putMatch(put: Put, tx: number, random: Random): void {
  const token = BigInt(random.below(4000)) * 7_919n + (1n << 200n);
  const taker = padded(`0x${random.bits(160).toString(16).padStart(40, "0")}`);
  const takerOrder = word(random.bits(250));
  let [cash, shares] = [0n, 0n];
  const fill = (side: bigint, making: bigint, taking: bigint) =>
    `0x${[side, token, making, taking, 0n, 0n, 0n].map((value) => word(value).slice(2)).join("")}`;
  for (let makers = 1 + random.below(3); makers > 0; makers -= 1) {
    const size = BigInt(1 + random.below(100_000)) * 10_000n;
    const value = (size * BigInt(1 + random.below(99))) / 100n;
    [cash, shares] = [cash + value, shares + size];
    const maker = padded(`0x${random.bits(160).toString(16).padStart(40, "0")}`);
    if (hasTransfers) {
      put(
        {
          address: conditionalTokens,
          topics: [topics.transferSingle, padded(exchange), maker, taker],
          data: `0x${[token, size].map((value) => word(value).slice(2)).join("")}`,
        },
        tx,
      );
    }
    put(
      {
        address: exchange,
        topics: [topics.orderFilled, word(random.bits(250)), maker, taker],
        data: fill(1n, size, value),
      },
      tx,
    );
  }
  put(
    {
      address: exchange,
      topics: [topics.orderFilled, takerOrder, taker, padded(exchange)],
      data: fill(0n, cash, shares),
    },
    tx,
  );
  const summary = [0n, token, cash, shares].map((value) => word(value).slice(2)).join("");
  put(
    { address: exchange, topics: [topics.ordersMatched, takerOrder, taker], data: `0x${summary}` },
    tx,
  );
}

function generator(seed: number) {
  let state = seed >>> 0;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  return {
    below: (limit: number) => Math.floor((next() / 2 ** 32) * limit),
    bits: (count: number) => {
      let value = 0n;
      for (let i = 0; i < count; i += 32) value = (value << 32n) | BigInt(next());
      return value & ((1n << BigInt(count)) - 1n);
    },
  };
}

function getNumber(tag: unknown, head: number): number {
  return typeof tag === "string" && tag.startsWith("0x") ? Number(tag) : head;
}

/** The hash of a block. It starts with the block number, so that a block can be found by its hash. */
export function getBlockHash(number: number): string {
  return number < 0 ? `0x${"0".repeat(64)}` : hashOfDigits(hexDigits(number, numberDigits));
}

function hashOfDigits(digits: string): string {
  return `0x000000000${digits}${"c0de".repeat(12)}`;
}

/** Blocks that appear during the run are 2 seconds apart, whatever the distance of the earlier ones. */
function getTime(number: number): number {
  const past = Math.min(number, blocksBefore - 1);
  return getBlockTime(past, secondsPerBlock) + (number - past) * secondsBetweenNew;
}

/** The timestamp of a block, in Unix seconds. */
export function getBlockTime(number: number, secondsBetween: number): number {
  return firstTimestamp + number * secondsBetween;
}

function hexDigits(value: number, count: number): string {
  return value.toString(16).padStart(count, "0");
}

function hex(value: number): string {
  return `0x${value.toString(16)}`;
}

function word(value: bigint): string {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

function padded(address: string): string {
  return `0x${address.slice(2).padStart(64, "0")}`;
}

/** The contracts of the node's logs, starting at block 0. */
export function contractsFromBlock0(): typeof polygonContracts {
  const contracts = polygonContracts.contracts.map((one) => ({ ...one, start_block: 0 }));
  return { ...polygonContracts, contracts };
}
