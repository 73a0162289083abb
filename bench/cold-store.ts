/**
 * Builds a store of any size with SQL in minutes, where indexing would take hours: trades, their candles, markets and
 * commit records, as after a backfill of the endless node's chain.
 *
 * A block has 100 fills: each match has four legs and a summary. One token has a tenth of all trades, some hundreds are
 * traded from the first block to the last, and most are traded for a fifteenth of the time. Within a kind, few tokens
 * are traded often, and most rarely.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Address, ConditionId, Hash, TokenId } from "../src/base/ids.ts";
import { toSeq } from "../src/base/ids.ts";
import { type BlockFacts, emptyBlock } from "../src/market/block-facts.ts";
import { deriveGen3TokenIds } from "../src/market/ids/gen3-ids.ts";
import { toWord } from "../src/market/ids/keccak.ts";
import { countNames } from "../src/storage/codec/commit-counts.ts";
import { encodeFacts } from "../src/storage/codec/encode-facts.ts";
import { selectByToken } from "../src/storage/codec/fill-layout.ts";
import { RowWriter } from "../src/storage/codec/row-writer.ts";
import type { Engine, OpenEngine } from "../src/storage/engine/engine.ts";
import { IndexedFacts } from "../src/views/indexed-facts.ts";
import { tieToContracts } from "../test/support/contracts-file.ts";
import { deriveNativeEventId } from "../test/support/derive-gen3-ids.ts";
import { type ChildServer, startServer } from "./child-server.ts";
import { getBlockHash, getBlockTime } from "./endless-node.ts";

/** Where a store is and how large it is. */
export type ColdStore = {
  readonly dataDir: string;
  readonly trades: number;
  readonly secondsPerBlock: number;
  /** Opens the engine that has the facts, if they are not in the folder. */
  readonly openEngine?: OpenEngine;
};

const fillsPerBlock = 100;
const fillsPerMatch = 5;
const legsPerMatch = 4;
/** Fills of one insert. An insert makes one part until the engine merges it. */
const fillsPerInsert = 2_000_000;
const oneInsert = `SETTINGS min_insert_block_size_rows = ${fillsPerInsert}, min_insert_block_size_bytes = 0, max_threads = 1, allow_suspicious_fixed_string_types = 1`;
const tradesPerToken = 333;
const exchange = "e111180000d2663c0091e4f400237545b87b996b";
const nobody = `0x${"11".repeat(20)}` as Address;
/** A factor that spreads a number over 32 bytes. */
const spread = "64564562331257216542318753219864311685431684321684321684343213218643215687";

/** Returns how many blocks contain the given number of trades. */
export function toBlocks(trades: number): number {
  return Math.ceil((trades * fillsPerMatch) / legsPerMatch / fillsPerBlock);
}

/** The tokens of a store, ordered by how they are traded: the largest first, then the long-lived ones. */
export function getTokens(trades: number): {
  readonly ids: readonly TokenId[];
  readonly longLived: number;
  readonly alive: number;
} {
  const markets = Math.max(100, Math.ceil(trades / tradesPerToken / 2));
  const ids = Array.from({ length: markets }, (_, index) =>
    deriveGen3TokenIds(getEvent(index) as string as ConditionId),
  ).flat();
  return { ids, longLived: Math.ceil(ids.length / 100), alive: Math.ceil(ids.length / 15) };
}

/** Starts the service on a filled store, with `key` as its admin key. Waits until it is ready. */
export async function serveColdStore(
  rpcUrl: string,
  { dataDir, dir, key }: { readonly dataDir: string; readonly dir: string; readonly key: string },
): Promise<ChildServer> {
  const service = await startServer("../src/cli.ts", ["serve"], {
    PATH: process.env["PATH"],
    ODDWIRE_RPC_URLS: rpcUrl,
    ODDWIRE_START_BLOCK: "0",
    ODDWIRE_CONTRACTS_FILE: await tieToContracts(dir, { dataDir, startBlock: 0 }),
    ODDWIRE_DATA_DIR: dataDir,
    ODDWIRE_PORT: "0",
    ODDWIRE_ADMIN_KEY: key,
    ODDWIRE_RATE_LIMIT_ADMIN: "10000000",
    ODDWIRE_LOG_LEVEL: "error",
    // The audit is off: the node does not have the blocks that the store was filled with.
    ODDWIRE_AUDIT_CALLS_PER_MINUTE: "0",
  });
  while (!(await fetch(`${service.url}/v1/ready`)).ok) await pause(300);
  return service;
}

/** Fills an empty data directory. */
export async function fillColdStore({
  dataDir,
  trades,
  secondsPerBlock,
  openEngine,
}: ColdStore): Promise<void> {
  const store = await IndexedFacts.open(dataDir, openEngine);
  const { engine } = store;
  try {
    const tokens = getTokens(trades);
    await putTokens(engine, tokens.ids);
    const blocks = toBlocks(trades);
    const blocksPerInsert = fillsPerInsert / fillsPerBlock;
    for (let from = 0; from < blocks; from += blocksPerInsert) {
      const to = Math.min(blocks, from + blocksPerInsert);
      const shape = { ...tokens, blocks, secondsPerBlock };
      await engine.command(fillsSql(from, to, shape));
      await engine.command(byTokenSql(from, to));
      await engine.command(minutesSql(from, to));
      await engine.command(hoursSql(from, to));
      await engine.insert("events", getMarkets({ from, to }, shape));
      await engine.command(commitSql(from, to, secondsPerBlock));
      process.stdout.write(`\r${to} of ${blocks} blocks`);
    }
    await engine.command("DROP DATABASE bench SYNC");
    process.stdout.write("\n");
    await mergesDone(engine);
  } finally {
    await store.close();
  }
}

/** Resolves when the engine has nothing left to merge, as some time after a backfill. */
export async function mergesDone(engine: Engine): Promise<void> {
  for (let idle = 0; idle < 5; ) {
    const [row] = await engine.query("SELECT count() FROM system.merges");
    idle = Number(row?.[0]) === 0 ? idle + 1 : 0;
    await pause(1000);
  }
}

type Shape = ReturnType<typeof getTokens> & {
  readonly blocks: number;
  readonly secondsPerBlock: number;
};

export async function putTokens(engine: Engine, ids: readonly TokenId[]): Promise<void> {
  await engine.command("CREATE DATABASE bench ENGINE = Atomic");
  await engine.command(
    "CREATE TABLE bench.tokens (number UInt32, token_id FixedString(32)) ENGINE = Memory",
  );
  const rows = new RowWriter();
  for (const [index, id] of ids.entries()) rows.uint32(index).hex(id);
  await engine.insert("bench.tokens", rows.finish());
}

/** SQL that inserts the fills of some blocks. Every field is a function of the block number. */
function fillsSql(from: number, to: number, shape: Shape): string {
  const { ids, longLived, alive, blocks, secondsPerBlock } = shape;
  const youngest = ids.length - alive - longLived - 1;
  const skewed = (count: number): string => `floor(pow(share, 3) * ${count})`;
  const zeros = `unhex('${"00".repeat(32)}')`;
  const matchSeq = `block * 1000000 + n % ${fillsPerBlock} - n % ${fillsPerMatch} + ${legsPerMatch}`;
  return `INSERT INTO fills SELECT
    block * 1000000 + n % ${fillsPerBlock} AS seq, ${getBlockTime(0, secondsPerBlock)} + block * ${secondsPerBlock},
    token_id, toInt8(is_summary ? 2 : 1),
    is_summary ? ${toWallet("4, match")} : ${toWallet("5, n")},
    is_summary ? unhex('${exchange}') : ${toWallet("4, match")},
    reinterpret(toInt128(size), 'Decimal(38, 6)'), reinterpret(toInt128(value), 'Decimal(38, 6)'),
    toInt8(roll % 2 + 1), 2,
    is_summary ? ${toBytes32("2, match")} : ${toBytes32("3, n")}, ${toBytes32("1, match")},
    toFixedString(concat(reinterpretAsFixedString(byteSwap(block)), unhex('${getBlockHash(0).slice(18)}')), 32),
    unhex('${exchange}'), 1, toInt8(is_summary ? 1 : 2), token_id,
    toUInt128(is_summary ? value : size), toUInt128(is_summary ? size : value), 0, 0, ${zeros}, ${zeros},
    1, ${toBytes32("2, match")}, ${matchSeq}, is_summary ? ${legsPerMatch} : 0
  FROM (
    SELECT number AS n, intDiv(number, ${fillsPerBlock}) AS block,
      intDiv(number, ${fillsPerMatch}) AS match, number % ${fillsPerMatch} = ${legsPerMatch} AS is_summary,
      cityHash64(match) AS roll, cityHash64(6, match) / 18446744073709551616. AS share,
      toUInt32(multiIf(
        roll % 10 = 0, 0,
        roll % 10 < 3, 1 + ${skewed(longLived)},
        1 + ${longLived} + floor(block / ${blocks} * ${youngest}) + ${skewed(alive)})) AS number_of_token,
      (1 + cityHash64(7, match) % 100000) * 10000 * (is_summary ? ${legsPerMatch} : 1) AS size,
      intDiv(size * (1 + cityHash64(8, match) % 99), 100) AS value
    FROM numbers(${from * fillsPerBlock}, ${(to - from) * fillsPerBlock})
  ) AS fill INNER JOIN bench.tokens ON tokens.number = fill.number_of_token
  ${oneInsert}`;
}

/** SQL that inserts the same fills into `fills_by_token`. */
function byTokenSql(from: number, to: number): string {
  const fills = `SELECT * FROM fills WHERE seq >= ${toSeq(from, 0)} AND seq < ${toSeq(to, 0)}`;
  return `INSERT INTO fills_by_token ${selectByToken(fills)} ${oneInsert}`;
}

/** SQL of a hash of the given numbers, with the length of hashes on the chain. */
export function toBytes32(numbers: string): string {
  return `reinterpretAsFixedString(toUInt256(cityHash64(${numbers})) * toUInt256('${spread}'))`;
}

/** SQL of one of 100,000 wallets, few of which trade often. */
export function toWallet(numbers: string): string {
  const share = `cityHash64(${numbers}) / 18446744073709551616.`;
  const hash = toBytes32(`9, floor(pow(${share}, 3) * 100000)`);
  return `toFixedString(substring(${hash}, 1, 20), 20)`;
}

/** SQL that inserts the minute candles of some blocks, equal to those of `deriveMinuteCandles`. */
function minutesSql(from: number, to: number): string {
  return `INSERT INTO minute_candles SELECT
    token_id, intDiv(timestamp, 60) * 60 AS minute, min(tick), max(tick), max(price), min(price),
    sum(size), sumIf(value, side = 'BUY'), sumIf(value, side = 'SELL'), count()
  FROM (SELECT *, CAST(value / size, 'Decimal(38, 6)') AS price,
      bitShiftLeft(toUInt256(seq), 128) + toUInt256(price * 1000000) AS tick FROM fills
    WHERE role = 'maker' AND seq >= ${toSeq(from, 0)} AND seq < ${toSeq(to, 0)})
  GROUP BY token_id, minute
  ${oneInsert}`;
}

/** SQL that derives hour candles from the minute candles that were just stored. */
function hoursSql(from: number, to: number): string {
  return `INSERT INTO hour_candles SELECT * FROM minute_candles
    WHERE open >= bitShiftLeft(toUInt256(${toSeq(from, 0)}), 128)
      AND open < bitShiftLeft(toUInt256(${toSeq(to, 0)}), 128)
    ${oneInsert}`;
}

function commitSql(from: number, to: number, secondsPerBlock: number): string {
  const counts = ["fills", "events"].map(
    (table) =>
      `(SELECT count() FROM ${table} WHERE seq >= ${toSeq(from, 0)} AND seq < ${toSeq(to, 0)})`,
  );
  const hash = getBlockHash(to - 1).slice(2);
  const time = getBlockTime(to - 1, secondsPerBlock);
  return `INSERT INTO commits SELECT ${from}, ${to - 1}, unhex('${hash}'), ${time}, ${counts.join()}, ${countNames
    .slice(counts.length)
    .map(() => 0)
    .join()}, 0`;
}

/** Rows of the markets that are announced in some blocks, most of them shortly before their first trade. */
function getMarkets(interval: { from: number; to: number }, shape: Shape): Uint8Array {
  const { ids, longLived, alive, blocks, secondsPerBlock } = shape;
  const old = longLived + alive + 2;
  const isReported = (index: number): boolean => {
    const place = Math.max(0, ((2 * index - old) / (ids.length - old)) * blocks);
    return place >= interval.from && place < interval.to;
  };
  const reported = Array.from({ length: ids.length / 2 }, (_, index) => index).filter(isReported);
  const { from: number } = interval;
  const hash = getBlockHash(number) as Hash;
  const timestamp = getBlockTime(number, secondsPerBlock);
  const place = { timestamp, blockHash: hash, txHash: hash, address: nobody };
  const events = reported.flatMap((index, order): BlockFacts["events"][number][] => {
    const eventId = getEvent(index);
    const words = `q: title: Will number ${index} win?, description: Yes if it wins.`;
    const text = `0x${Buffer.from(words).toString("hex")}` as const;
    const seq = (log: number) => toSeq(number, fillsPerBlock + 2 * order + log);
    return [
      {
        ...place,
        seq: seq(0),
        event: { kind: "gen3_event_announced", eventId, marketType: "binary" },
      },
      {
        ...place,
        seq: seq(1),
        event: {
          kind: "gen3_text_registered",
          requestId: eventId,
          requester: nobody,
          isNumerical: false,
          text,
        },
      },
    ];
  });
  const block = { ...emptyBlock, number, hash, timestamp, events };
  const last = { number, hash, timestamp };
  return encodeFacts({ fromBlock: number, last }, [block]).rows.events;
}

function getEvent(index: number) {
  return deriveNativeEventId("binary", toWord(index));
}
