/**
 * Adds ledgers of wallets to a cold store with SQL: the trades of its fills, one wallet with a tenth of all other rows,
 * one with a hundredth, 100,000 others of which few trade often, and a token with 200,000 holders. Every second row of a
 * wallet sells half of what the row before has bought.
 */
import { type Address, type TokenId, toSeq } from "../src/base/ids.ts";
import { countNames } from "../src/storage/codec/commit-counts.ts";
import { selectByToken } from "../src/storage/codec/fill-layout.ts";
import type { Engine } from "../src/storage/engine/engine.ts";
import { IndexedFacts } from "../src/views/indexed-facts.ts";
import { getTokens, mergesDone, putTokens, toBlocks, toBytes32, toWallet } from "./cold-store.ts";
import { getBlockTime } from "./endless-node.ts";

export type LedgerStore = {
  readonly dataDir: string;
  readonly trades: number;
  readonly secondsPerBlock: number;
  readonly rows: number;
};

/** What was stored: the rows, the bytes of each row with its balance, and wallets by the number of their rows. */
export type StoredLedger = {
  readonly rows: number;
  readonly bytesPerRow: number;
  readonly tenth: Address;
  readonly hundredth: Address;
  /** Wallets with 500 to 2,000 rows. */
  readonly usual: readonly Address[];
  readonly largestToken: TokenId;
};

export const holders = 200_000;
const tenth = `0x${"0a".repeat(20)}` as Address;
const hundredth = `0x${"0b".repeat(20)}` as Address;
const rowsPerInsert = 2_000_000;
/** Blocks whose fills are one insert. The engine merges the parts of some, as in a backfill. */
const blocksPerInsert = 1000;
const oneInsert = `SETTINGS min_insert_block_size_rows = ${rowsPerInsert}, min_insert_block_size_bytes = 0, max_threads = 1, allow_suspicious_fixed_string_types = 1`;

/** Adds the ledgers to a store that `fillColdStore` filled, or reads what an earlier call stored. */
export async function fillLedger(given: LedgerStore): Promise<StoredLedger> {
  const store = await IndexedFacts.open(given.dataDir);
  const { engine } = store;
  try {
    const [counted] = await engine.query("SELECT count() FROM ledger");
    if (Number(counted?.[0]) === 0) await fill(engine, given);
    return await describe(engine, given);
  } finally {
    await store.close();
  }
}

async function fill(engine: Engine, given: LedgerStore): Promise<void> {
  const { trades, rows } = given;
  await putTokens(engine, getTokens(trades).ids);
  for (let from = 0; from < rows; from += rowsPerInsert) {
    await engine.command(ledgerSql(from, Math.min(rows, from + rowsPerInsert), given));
    process.stdout.write(`\r${from} of ${rows} rows`);
  }
  await engine.command(fillsSql);
  for (let from = 0; from < toBlocks(trades); from += blocksPerInsert) {
    const isInRange = `${isTraded} AND seq >= ${toSeq(from, 0)} AND seq < ${toSeq(from + blocksPerInsert, 0)}`;
    await engine.command(tradedFillsSql(isInRange, given));
    const traded = `SELECT * FROM fills WHERE ${isInRange}`;
    await engine.command(`INSERT INTO fills_by_token ${selectByToken(traded)} ${oneInsert}`);
  }
  await engine.command(holdersSql(given));
  await engine.command(
    `INSERT INTO balance_changes SELECT token_id, wallet, seq, timestamp, shares FROM ledger ${oneInsert}`,
  );
  await engine.command(
    `INSERT INTO balance_changes SELECT token_id, ${toLiteral(`0x${"00".repeat(20)}`)}, max(seq), max(timestamp), -sum(shares)
     FROM ledger GROUP BY token_id, intDiv(timestamp, 3600)`,
  );
  await engine.command("DROP DATABASE bench SYNC");
  const last = "argMax(last_hash, to_block), argMax(last_timestamp, to_block)";
  const tables = ["fills", "events", "quarantine", "ledger", "balance_changes"];
  const counts = countNames.map((_, index) => `(SELECT count() FROM ${tables[index]})`);
  await engine.command(
    `INSERT INTO commits SELECT min(from_block), max(to_block), ${last}, ${counts.join()}, 1 FROM commits`,
  );
  await engine.command(
    "ALTER TABLE commits DELETE WHERE anomalies = 0 SETTINGS mutations_sync = 2",
  );
  await mergesDone(engine);
  process.stdout.write("\n");
}

function ledgerSql(
  from: number,
  to: number,
  { trades, secondsPerBlock, rows }: LedgerStore,
): string {
  const { ids } = getTokens(trades);
  const perBlock = Math.ceil(rows / toBlocks(trades));
  return `INSERT INTO ledger SELECT
    wallet, block * 1000000 + 1000 + n % ${perBlock}, 0, ${getBlockTime(0, secondsPerBlock)} + block * ${secondsPerBlock},
    ${toBytes32("21, n")}, token_id, 'trade', n % 3 = 0 ? 'taker' : 'maker', 'none',
    n % 2 = 0 ? size : -intDiv(size, 2),
    reinterpret(toInt128(n % 2 = 0 ? -intDiv(size, 2) : intDiv(size, 3)), 'Decimal(38, 6)'),
    reinterpret(toInt128(intDiv(size, 200)), 'Decimal(38, 6)'), 0, n % 3 = 0 ? toFixedString('', 20) : ${toWallet("22, n")}, ${toWallet("23")}
  FROM (
    SELECT number AS n, intDiv(number, 2) AS pair, intDiv(number, ${perBlock}) AS block,
      toInt64(1 + cityHash64(24, pair) % 100000) * 10000 AS size,
      multiIf(pair % 10 = 0, ${toLiteral(tenth)}, pair % 100 = 1, ${toLiteral(hundredth)}, ${toWallet("25, pair")}) AS wallet,
      toUInt32(pair % 10 = 0 ? cityHash64(26, pair) % ${ids.length}
        : floor(pow(cityHash64(27, pair) / 18446744073709551616., 3) * ${ids.length})) AS number_of_token
    FROM numbers(${from}, ${to - from})
  ) AS row INNER JOIN bench.tokens ON tokens.number = row.number_of_token
  ${oneInsert}`;
}

/** The trades of the fills of the store. */
const fillsSql = `INSERT INTO ledger SELECT
    maker, seq, 0, timestamp, tx_hash, token_id, 'trade', role = 'taker' ? 'taker' : 'maker', 'none',
    toInt256(reinterpret(size, 'Int128')), -value, fee, 0, role = 'taker' ? toFixedString('', 20) : taker, exchange_address FROM fills ${oneInsert}`;

/** The rows of `ledgerSql`: their logs follow those of the fills of the store. */
const isTraded = "seq % 1000000 BETWEEN 1000 AND 899999";

/** The fills of some of these rows. */
function tradedFillsSql(isInRange: string, { trades, rows }: LedgerStore): string {
  const number = `intDiv(seq, 1000000) * ${Math.ceil(rows / toBlocks(trades))} + seq % 1000000 - 1000`;
  const other = toWallet(`22, ${number}`);
  return `INSERT INTO fills SELECT
    seq, timestamp, token_id, 'maker', role = 'maker' ? wallet : ${other}, role = 'maker' ? ${other} : wallet,
    reinterpret(toInt128(abs(shares)), 'Decimal(38, 6)') AS size, abs(cash), shares > 0 ? 'SELL' : 'BUY', 2,
    tx_hash, tx_hash, tx_hash, via, 'standard', shares > 0 ? 'BUY' : 'SELL', token_id,
    reinterpret(shares > 0 ? abs(cash) : size, 'UInt128'), reinterpret(shares > 0 ? size : abs(cash), 'UInt128'),
    fee, 0, tx_hash, tx_hash, 'complementary', tx_hash, seq, 0
  FROM ledger WHERE ${isInRange} AND role != 'none' ${oneInsert}`;
}

function holdersSql({ trades, secondsPerBlock }: LedgerStore): string {
  const [token] = getTokens(trades).ids;
  const block = `number % ${toBlocks(trades)}`;
  return `INSERT INTO ledger SELECT
    toFixedString(substring(${toBytes32("31, number")}, 1, 20), 20),
    ${block} * 1000000 + 900000 + intDiv(number, ${toBlocks(trades)}), 0,
    ${getBlockTime(0, secondsPerBlock)} + ${block} * ${secondsPerBlock}, ${toBytes32("32, number")},
    ${toLiteral(String(token))}, 'transfer_in', 'none', 'none', 1 + cityHash64(33, number) % 1000000000,
    0, 0, 0, ${toWallet("34, number")}, ${toLiteral(`0x${"00".repeat(20)}`)}
  FROM numbers(${holders}) ${oneInsert}`;
}

async function describe(engine: Engine, { trades }: LedgerStore): Promise<StoredLedger> {
  const [size] = await engine.query(
    `SELECT sumIf(total_rows, name = 'ledger'), sum(total_bytes) FROM system.tables
     WHERE database = currentDatabase() AND name IN ('ledger', 'balance_changes')`,
  );
  const usual = await engine.query(
    `SELECT lower(hex(wallet)) FROM ledger GROUP BY wallet HAVING count() BETWEEN 500 AND 2000
     ORDER BY cityHash64(wallet) LIMIT 2000`,
  );
  const [rows = 0, bytes = 0] = (size ?? []).map(Number);
  return {
    rows,
    bytesPerRow: bytes / rows,
    tenth,
    hundredth,
    usual: usual.map(([wallet]) => `0x${String(wallet)}` as Address),
    largestToken: getTokens(trades).ids[0] as TokenId,
  };
}

function toLiteral(bytes: string): string {
  const digits = bytes.slice(2);
  return `toFixedString(unhex('${digits}'), ${digits.length / 2})`;
}
