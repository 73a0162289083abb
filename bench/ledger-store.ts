/**
 * Adds to a cold store what wallets need: the ledger and the changes of balances that its fills derive, as `deriveLedger`
 * does, and a token with 200,000 holders. Splits, merges and redemptions are left out: their rows share a hash and have
 * no other side, so they are smaller than those of trades.
 */
import type { Address, TokenId } from "../src/base/ids.ts";
import { zeroAddress } from "../src/market/ledger/ledger-row.ts";
import { countNames } from "../src/storage/codec/commit-counts.ts";
import type { Engine } from "../src/storage/engine/engine.ts";
import { IndexedFacts } from "../src/views/indexed-facts.ts";
import { getTokens, mergesDone, toBlocks, toBytes32, toWallet } from "./cold-store.ts";
import { getBlockTime } from "./endless-node.ts";

export type LedgerStore = {
  readonly dataDir: string;
  readonly trades: number;
  readonly secondsPerBlock: number;
};

/** What was stored: the rows, the bytes of each row with its balance, and the wallets with 500 to 2,000 rows. */
export type StoredLedger = {
  readonly rows: number;
  readonly bytesPerRow: number;
  readonly usual: readonly Address[];
  readonly largestToken: TokenId;
};

export const holders = 200_000;
const oneInsert =
  "SETTINGS min_insert_block_size_rows = 2000000, min_insert_block_size_bytes = 0, max_threads = 1";

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
  await engine.command(tradesSql);
  await engine.command(holdersSql(given));
  await engine.command(
    `INSERT INTO balance_changes SELECT token_id, wallet, seq, timestamp, shares FROM ledger ${oneInsert}`,
  );
  await engine.command(suppliesSql);
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
}

const none = toLiteral(zeroAddress);

const tradesSql = `INSERT INTO ledger SELECT
    maker, seq, 0, timestamp, tx_hash, maker_token_id, 'trade', role = 'taker' ? 'taker' : 'maker', 'none',
    maker_side = 'BUY' ? toInt256(taker_amount) : -toInt256(maker_amount),
    reinterpret(maker_side = 'BUY' ? -toInt128(maker_amount) : toInt128(taker_amount), 'Decimal(38, 6)'),
    fee, 0, role = 'taker' ? ${none} : taker, exchange_address FROM fills ${oneInsert}`;

/** What mints and merges add to the supply of both tokens: one row for each token and transaction. */
const suppliesSql = `INSERT INTO balance_changes SELECT
    maker_token_id, ${none}, max(seq), any(timestamp),
    sum(toInt256(reinterpret(size, 'Int128'))) * (match_type = 'mint' ? -1 : 1)
  FROM fills WHERE match_type IN ('mint', 'merge') GROUP BY tx_hash, maker_token_id, match_type ${oneInsert}`;

function holdersSql({ trades, secondsPerBlock }: LedgerStore): string {
  const [token] = getTokens(trades).ids;
  const block = `number % ${toBlocks(trades)}`;
  return `INSERT INTO ledger SELECT
    toFixedString(substring(${toBytes32("31, number")}, 1, 20), 20),
    ${block} * 1000000 + 900000 + intDiv(number, ${toBlocks(trades)}), 0,
    ${getBlockTime(0, secondsPerBlock)} + ${block} * ${secondsPerBlock}, ${toBytes32("32, number")},
    ${toLiteral(String(token))}, 'transfer_in', 'none', 'none', 1 + cityHash64(33, number) % 1000000000,
    0, 0, 0, ${toWallet("34, number")}, ${none}
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
    usual: usual.map(([wallet]) => `0x${String(wallet)}` as Address),
    largestToken: getTokens(trades).ids[0] as TokenId,
  };
}

function toLiteral(bytes: string): string {
  const digits = bytes.slice(2);
  return `toFixedString(unhex('${digits}'), ${digits.length / 2})`;
}
