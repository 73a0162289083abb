import { type Address, type Seq, toBlockNumber, toFirstSeq } from "../base/ids.ts";
import type { NamedContract } from "../chain/parse/named-contracts.ts";
import type { BlockRef, Coverage, TimedBlock } from "../chain/raw-log.ts";
import type { Contracts } from "../contracts/contracts.ts";
import { type BlockFacts, emptyBlock } from "../market/block-facts.ts";
import { type Delta, toFinalDelta } from "../market/delta.ts";
import { getSupplyAccounts } from "../market/ledger/collateral.ts";
import { eventColumns, parseEvent } from "./codec/event-codec.ts";
import { readBalances } from "./codec/read-ledger.ts";
import { type Engine, prefixed } from "./engine/engine.ts";
import { blockRangeSql } from "./schema/fact-tables.ts";
import { hexLiteral, integerLiteral } from "./sql-literal.ts";
import { readStoredFills } from "./stored-fills.ts";

/** Reads the delta of the stored blocks from `fromBlock` through `last`; `null` when there are none. */
export async function readDelta(
  engine: Engine,
  { fromBlock, last }: Coverage,
  contracts: Contracts,
): Promise<Delta | null> {
  if (fromBlock > last.number) return null;
  const range = blockRangeSql({ from: fromBlock, to: last.number });
  const accounts = [...getSupplyAccounts(contracts)].map(hexLiteral).join();
  const [fills, rows, supplies] = await Promise.all([
    readStoredFills(engine, "fills", `WHERE ${range} ORDER BY seq`),
    engine.query(`SELECT ${eventColumns} FROM events WHERE ${range} ORDER BY seq`),
    engine.hasWallets
      ? readBalances(engine, `WHERE ${range} AND wallet IN (${accounts}) ORDER BY seq`)
      : [],
  ]);
  const events = rows.map(parseEvent);
  return toFinalDelta({ ...emptyBlock, ...last, fills, events, supplies }, fromBlock);
}

/**
 * Whether unfinalized blocks equal the committed ones. Compares the hash of `committed`. When the unfinalized blocks
 * end before it, compares the block hashes of all their stored fills and events, and the transactions of the ledger.
 */
export async function agreesWith(
  engine: Engine,
  unfinalized: readonly BlockFacts[],
  committed: TimedBlock,
): Promise<boolean> {
  const blocks = unfinalized.filter(({ number }) => number <= committed.number);
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (first === undefined || last === undefined) return true;
  if (last.number === committed.number) return last.hash === committed.hash;
  const range = blockRangeSql({ from: first.number, to: last.number });
  const rows = await engine.query(
    `SELECT seq, hex(block_hash) FROM (
       SELECT seq, block_hash FROM fills WHERE ${range} UNION ALL SELECT seq, block_hash FROM events WHERE ${range}
       ${engine.hasWallets ? `UNION ALL SELECT seq, tx_hash FROM ledger WHERE ${range}` : ""}
     )`,
  );
  const stored = rows.map(([seq, hash]) => `${Number(seq)} ${prefixed(hash)}`);
  const expected = blocks.flatMap((block) => [
    ...[...block.fills, ...block.events].map(({ seq }) => `${seq} ${block.hash}`),
    ...block.ledger.map(({ seq, txHash }) => `${seq} ${txHash}`),
  ]);
  return stored.toSorted().join() === expected.toSorted().join();
}

/**
 * Reads the contracts that stored logs up to and including block `last` name as reporters, each with the block of the
 * first such log. Configured contracts are included.
 */
export async function readNamedContracts(
  engine: Engine,
  last: BlockRef | null,
): Promise<readonly NamedContract[]> {
  if (last === null) return [];
  const end = integerLiteral(toFirstSeq(last.number + 1));
  const rows = await engine.query(`SELECT right(hex(subject), 40), min(seq) FROM events
WHERE kind = 'gen3_reporter_added' AND seq < ${end} GROUP BY subject`);
  return rows.map(([address, seq]) => ({
    address: prefixed(address) as Address,
    block: toBlockNumber(Number(seq) as Seq),
  }));
}
