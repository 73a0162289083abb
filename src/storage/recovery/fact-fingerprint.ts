/**
 * Facts as lines of text, one for each stored row, to verify a store. The text of a line is the row in `RowBinary`,
 * as it is inserted. So a fact read from a node and the engine's row of it give the same line. Lines can be compared
 * one by one, or all together as counts and hashes by contract and event.
 */
import { hash } from "node:crypto";
import type { Address, Hash, Seq } from "../../base/ids.ts";
import type { BlockRange } from "../../chain/raw-log.ts";
import type { BlockFacts } from "../../market/block-facts.ts";
import { zeroAddress } from "../../market/ledger/ledger-row.ts";
import {
  encodeBalances,
  encodeEventRow,
  encodeFills,
  encodeLedger,
} from "../codec/encode-facts.ts";
import { RowWriter } from "../codec/row-writer.ts";
import type { Engine } from "../engine/engine.ts";
import { blockRangeSql, walletTables } from "../schema/fact-tables.ts";

/** The line of a stored row, with the position, time, block, contract and kind of its log. */
export type FactLine = {
  readonly seq: Seq;
  /** The time of the block, in Unix seconds. */
  readonly timestamp: number;
  /** `null` for rows of the ledger, which do not have it. */
  readonly blockHash: Hash | null;
  readonly contract: Address;
  /** The kind of event; `order_filled` for fills, `quarantined` for logs that cannot be decoded. */
  readonly event: string;
  /** The bytes of the row, in hex. */
  readonly text: string;
};

/** The number of facts of a kind, and the sum of their hashes modulo 2^64, in hex. */
type Tally = { readonly count: number; readonly hash: string };

/** Tallies by `<contract> <event>`; kinds that do not occur are left out. */
export type FactSummary = Readonly<Record<string, Tally>>;

/** By table, the SQL of what the line of a row says. */
const lineSql = {
  fills: {
    blockHash: toHex("block_hash"),
    contract: toHex("exchange_address"),
    event: "'order_filled'",
    row: "*",
  },
  events: {
    blockHash: toHex("block_hash"),
    contract: toHex("address"),
    event: "toString(kind)",
    row: "*",
  },
  quarantine: {
    blockHash: "JSONExtractString(log, 'blockHash')",
    contract: "JSONExtractString(log, 'address')",
    event: "'quarantined'",
    // `reason` is left out: a later version can word it differently.
    row: "seq, timestamp, log",
  },
  ledger: {
    blockHash: "NULL",
    contract: toHex("via"),
    event: "toString(kind)",
    row: "*",
  },
  balance_changes: {
    blockHash: "NULL",
    contract: toHex("toFixedString('', 20)"),
    event: "'balance_changed'",
    row: "*",
  },
} as const;

/** Returns the lines of some blocks, in the order of the chain. */
export function toLines(blocks: readonly BlockFacts[]): readonly FactLine[] {
  const lines = blocks.flatMap(({ fills, events, quarantined, ledger, balances }) => [
    ...ledger.map((row) =>
      toLine({ ...row, blockHash: null }, [row.via ?? zeroAddress, row.kind], encodeLedger([row])),
    ),
    ...balances.map((change) =>
      toLine(
        { ...change, blockHash: null },
        [zeroAddress, "balance_changed"],
        encodeBalances([change]),
      ),
    ),
    ...fills.map((fill) =>
      toLine(fill, [fill.exchange.address, "order_filled"], encodeFills([fill])),
    ),
    ...events.map((located) =>
      toLine(located, [located.address, located.event.kind], encodeEventRow(located)),
    ),
    ...quarantined.map(({ seq, timestamp, log }) => {
      const { blockHash, address } = log;
      const row = new RowWriter().uint64(seq).uint32(timestamp).text(JSON.stringify(log)).finish();
      return toLine({ seq, timestamp, blockHash }, [address, "quarantined"], row);
    }),
  ]);
  // A log can have several lines.
  return lines.toSorted((one, other) => one.seq - other.seq || (one.text < other.text ? -1 : 1));
}

function toLine(
  { seq, timestamp, blockHash }: Pick<FactLine, "seq" | "timestamp" | "blockHash">,
  [contract, event]: readonly [Address, string],
  row: Buffer,
): FactLine {
  return { seq, timestamp, blockHash, contract, event, text: row.toString("hex") };
}

/** Summarizes lines as counts and hashes. Their order does not matter. */
export function summarizeLines(lines: readonly FactLine[]): FactSummary {
  const tallies = new Map<string, { count: number; sum: bigint }>();
  for (const { contract, event, text } of lines) {
    const name = `${contract} ${event}`;
    const tally = tallies.get(name) ?? { count: 0, sum: 0n };
    tally.count += 1;
    tally.sum += hash("sha256", text, "buffer").readBigUInt64LE(0);
    tallies.set(name, tally);
  }
  return Object.fromEntries(
    [...tallies].map(([name, { count, sum }]) => [name, { count, hash: hexOf64(sum) }]),
  );
}

/** Summarizes the engine's rows of a range. The engine computes it, so no row is transferred. */
export async function readFactSummary(engine: Engine, range: BlockRange): Promise<FactSummary> {
  const rows = await engine.query(
    `SELECT contract, event, count(),
       hex(sum(reinterpretAsUInt64(substring(SHA256(text), 1, 8))))
     FROM (${selectLines(engine, range)}) GROUP BY contract, event ORDER BY contract, event`,
  );
  return Object.fromEntries(
    rows.map(([contract, event, count, sum]) => [
      `${String(contract)} ${String(event)}`,
      { count: Number(count), hash: String(sum).toLowerCase() },
    ]),
  );
}

/** Reads the lines of the engine's rows of a range, in the order of the chain. */
export async function readFactLines(
  engine: Engine,
  range: BlockRange,
): Promise<readonly FactLine[]> {
  const rows = await engine.query(
    `SELECT seq, timestamp, hash_of_block, contract, event, text FROM (${selectLines(engine, range)}) ORDER BY seq, text`,
  );
  return rows.map(([seq, timestamp, blockHash, contract, event, text]) => ({
    seq: Number(seq) as Seq,
    timestamp: Number(timestamp),
    blockHash: blockHash === null ? null : (String(blockHash) as Hash),
    contract: String(contract) as Address,
    event: String(event),
    text: String(text),
  }));
}

function selectLines({ hasWallets }: Engine, range: BlockRange): string {
  const tables = Object.entries(lineSql).filter(
    ([table]) => hasWallets || !walletTables.has(table),
  );
  const selects = tables.map(
    ([table, { blockHash, contract, event, row }]) =>
      `SELECT seq, timestamp, ${blockHash} AS hash_of_block, ${contract} AS contract, ${event} AS event,
        lower(hex(formatRow('RowBinary', ${row}))) AS text
        FROM ${table} WHERE ${blockRangeSql(range)}`,
  );
  return selects.join(" UNION ALL ");
}

function toHex(column: string): string {
  return `concat('0x', lower(hex(${column})))`;
}

/** Formats the lowest 64 bits as the engine's `hex` does: without leading zero bytes. */
function hexOf64(sum: bigint): string {
  const text = BigInt.asUintN(64, sum).toString(16);
  return text.padStart(text.length + (text.length % 2), "0");
}
