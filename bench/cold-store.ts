/**
 * Builds a store of any size with SQL in minutes, where indexing would take hours: trades, their candles, markets and
 * commit records, as after a backfill of the endless node's chain.
 *
 * The chain has whole transactions of generation 2: each is a match of a taker with makers, whose fills come before the
 * taker's own. Where the sources differ, the figures are those with fewer rows that are alike:
 *
 * - 1.7 makers a match. The recordings of contracts have 1.7 to 2.0, the venue's captured messages 1 to 6; the few captured
 *   matches of the chain have 1. Every maker is another wallet; in the recordings, of 25 wallets, a few are the same.
 * - 15 % of fills are of a SELL, as on the chain in May 2026. So most matches mint, since others have a SELL in every two
 *   fills. A wallet sells only what it has bought.
 * - Three matches of ten are of the taker and in the market of the match before: in the recordings that have no market
 *   maker, a quarter of a wallet's trades are in the market of its trade before; in `wallets`, which has one, 85 %.
 * - A block has 135 fills, as on the chain (110 to 150).
 *
 * One wallet is in a tenth of all fills and one in a hundredth; the others are 100,000 of which few trade often. One
 * market has a tenth of all trades, some hundreds are traded from the first block to the last, and most are traded for a
 * fifteenth of the time. Within a kind, few tokens are traded often, and most rarely.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Address, ConditionId, Hash, TokenId } from "../src/base/ids.ts";
import { toSeq } from "../src/base/ids.ts";
import { type BlockFacts, emptyBlock } from "../src/market/block-facts.ts";
import { deriveGen3TokenIds } from "../src/market/ids/gen3-ids.ts";
import { toWord } from "../src/market/ids/keccak.ts";
import { countNames } from "../src/storage/codec/commit-counts.ts";
import { encodeFacts } from "../src/storage/codec/encode-facts.ts";
import { enumCodes, type FillField, selectPacked } from "../src/storage/codec/fill-layout.ts";
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

/** Matches of which the chain consists, again and again: `isAgain` has the taker and the market of the one before. */
const cycle = [
  { type: "mint", makers: 1, isAgain: false },
  { type: "complementary", makers: 1, isAgain: true },
  { type: "mint", makers: 1, isAgain: false },
  { type: "merge", makers: 1, isAgain: true },
  { type: "mint", makers: 2, isAgain: false },
  { type: "complementary", makers: 1, isAgain: true },
  { type: "mint", makers: 1, isAgain: false },
  { type: "mint", makers: 2, isAgain: false },
  { type: "mint", makers: 3, isAgain: false },
  { type: "mint", makers: 4, isAgain: false },
] as const;
/** The fills of a cycle: `leg` counts those of a match, and the last is the taker's. */
const cycleFills = cycle.flatMap(({ makers }, match) =>
  Array.from({ length: makers + 1 }, (_, leg) => ({ match, leg })),
);
const cycleTrades = cycleFills.length - cycle.length;
const fillsPerBlock = 5 * cycleFills.length;
/** Fills of a trade. */
export const fillsPerTrade = cycleFills.length / cycleTrades;
/** Fills of one insert. An insert makes one part until the engine merges it. */
const fillsPerInsert = 2_000_000;
const oneInsert = `SETTINGS min_insert_block_size_rows = ${fillsPerInsert}, min_insert_block_size_bytes = 0, max_threads = 1, allow_suspicious_fixed_string_types = 1`;
const tradesPerToken = 333;
const exchange = "e111180000d2663c0091e4f400237545b87b996b";
/** The wallets in a tenth and in a hundredth of all fills. */
export const largeWallets = {
  tenth: `0x${"0a".repeat(20)}` as Address,
  hundredth: `0x${"0b".repeat(20)}` as Address,
};
const nobody = `0x${"11".repeat(20)}` as Address;
/** A factor that spreads a number over 32 bytes. */
const spread = "64564562331257216542318753219864311685431684321684321684343213218643215687";

/** Returns how many blocks contain the given number of trades. */
export function toBlocks(trades: number): number {
  return Math.ceil((trades * fillsPerTrade) / fillsPerBlock);
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
    const blocksPerInsert = Math.floor(fillsPerInsert / fillsPerBlock);
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

async function putTokens(engine: Engine, ids: readonly TokenId[]): Promise<void> {
  await engine.command("CREATE DATABASE bench ENGINE = Atomic");
  await engine.command(
    "CREATE TABLE bench.tokens (number UInt32, token_id FixedString(32), complement_id FixedString(32)) ENGINE = Memory",
  );
  const rows = new RowWriter();
  for (const [index, id] of ids.entries())
    rows
      .uint32(index)
      .hex(id)
      .hex(ids[index ^ 1] ?? id);
  await engine.insert("bench.tokens", rows.finish());
}

/** SQL that inserts the fills of some blocks. Every field is a function of the number of the fill. */
function fillsSql(from: number, to: number, shape: Shape): string {
  const { ids, longLived, alive, blocks, secondsPerBlock } = shape;
  const youngest = ids.length - alive - longLived - 1;
  const skewed = (count: number): string => `floor(pow(share, 3) * ${count})`;
  const pick = (values: readonly (number | string)[], index: string): string =>
    `[${values.join()}][${index} + 1]`;
  const firsts = cycle.map(({ isAgain }, match) => match - Number(isAgain));
  const amount = (sql: string): string => `reinterpret(toInt128(${sql}), 'Decimal(38, 6)')`;
  const columns: Readonly<Record<FillField, string>> = {
    seq: "block * 1000000 + 2 * log",
    timestamp: `toUInt32(${getBlockTime(0, secondsPerBlock)} + block * ${secondsPerBlock})`,
    token_id: "token",
    role: "if(is_taker, 2, 1)",
    maker: "if(is_taker, taker_wallet, maker_wallet)",
    taker: `if(is_taker, unhex('${exchange}'), taker_wallet)`,
    size: amount("shares"),
    value: amount("cash"),
    side: "if(is_sell, 2, 1)",
    exchange_version: "toUInt8(2)",
    order_hash: `if(is_taker, ${toBytes32("2, match")}, ${toBytes32("3, n")})`,
    tx_hash: toBytes32("1, match"),
    block_hash: `toFixedString(concat(reinterpretAsFixedString(byteSwap(block)), unhex('${getBlockHash(0).slice(18)}')), 32)`,
    exchange_address: `unhex('${exchange}')`,
    exchange: "toInt8(1)",
    maker_side: "if(buys, 1, 2)",
    maker_token_id: "if(is_other, complement, token)",
    maker_amount: "toUInt128(if(buys, own_cash, shares))",
    taker_amount: "toUInt128(if(buys, shares, own_cash))",
    fee: amount("if(is_taker, intDiv(cash, 100), 0)"),
    fee_refund: amount("0"),
    builder: "toFixedString('', 32)",
    metadata: "toFixedString('', 32)",
    match_type: `toInt8(${pick(
      cycle.map(({ type }) => enumCodes.matchType[type]),
      "kind",
    )})`,
    taker_order_hash: toBytes32("2, match"),
    match_seq: "toUInt64(block * 1000000 + 2 * (log + makers - leg) + 1)",
    legs: "toUInt16(if(is_taker, makers, 0))",
  };
  const named = Object.entries(columns).map(([name, sql]) => `${sql} AS ${name}`);
  return `INSERT INTO fills ${selectPacked(`SELECT ${named.join()} FROM (
    SELECT fill.*, tokens.token_id AS token, tokens.complement_id AS complement,
      leg = makers AS is_taker, type != 'complementary' AND NOT is_taker AS is_other, type != 'mint' AS is_sell,
      is_sell != (type = 'complementary' AND NOT is_taker) AS sells, NOT sells AS buys,
      ${toParty("first, 0")} AS taker_wallet, ${toParty("if(is_other, first, match), leg + 1")} AS maker_wallet,
      (1 + cityHash64(7, first) % 100000) * if(is_sell, 10000, 20000)
        * if(is_taker, intDiv(makers * (makers + 1), 2), leg + 1) AS shares,
      1 + cityHash64(8, first) % 98 AS cents, intDiv(shares * cents, 100) AS cash,
      if(is_other, shares - cash, cash) AS own_cash
    FROM (
      SELECT number AS n, intDiv(number, ${fillsPerBlock}) AS block, number % ${fillsPerBlock} AS log,
        ${pick(
          cycleFills.map(({ match }) => match),
          `number % ${cycleFills.length}`,
        )} AS kind,
        ${pick(
          cycleFills.map(({ leg }) => leg),
          `number % ${cycleFills.length}`,
        )} AS leg,
        ${pick(
          cycle.map(({ makers }) => makers),
          "kind",
        )} AS makers,
        ${pick(
          cycle.map(({ type }) => `'${type}'`),
          "kind",
        )} AS type,
        intDiv(number, ${cycleFills.length}) * ${cycle.length} AS cycle, cycle + kind AS match,
        cycle + ${pick(firsts, "kind")} AS first,
        cityHash64(first) AS roll, cityHash64(6, first) / 18446744073709551616. AS share,
        toUInt32(multiIf(
          roll % 10 = 0, 0,
          roll % 10 < 3, 1 + ${skewed(longLived)},
          1 + ${longLived} + floor(block / ${blocks} * ${youngest}) + ${skewed(alive)})) AS number_of_token
      FROM numbers(${from * fillsPerBlock}, ${(to - from) * fillsPerBlock})
    ) AS fill INNER JOIN bench.tokens ON tokens.number = fill.number_of_token)`)}
  ${oneInsert}`;
}

/** SQL of the wallet of one side of an order. */
function toParty(numbers: string): string {
  const roll = `cityHash64(10, ${numbers}) % 100`;
  const large = [largeWallets.tenth, largeWallets.hundredth].map(
    (wallet) => `toFixedString(unhex('${wallet.slice(2)}'), 20)`,
  );
  return `multiIf(${roll} < 10, ${large[0]}, ${roll} = 10, ${large[1]}, ${toWallet(numbers)})`;
}

/** SQL that inserts the same fills into `fills_by_token`. */
function byTokenSql(from: number, to: number): string {
  return `INSERT INTO fills_by_token SELECT * FROM fills
    WHERE seq >= ${toSeq(from, 0)} AND seq < ${toSeq(to, 0)} ${oneInsert}`;
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
    const seq = (log: number) => toSeq(number, 2 * (fillsPerBlock + order) + log);
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
