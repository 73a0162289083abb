/**
 * Facts as lines of text, one for each stored row, to verify a store. A fact read from a node and the
 * engine's row of it give the same line, byte for byte. So lines can be compared one by one, or all
 * together as counts and hashes by contract and event.
 */
import { hash } from "node:crypto";
import { formatMicros } from "../base/decimal.ts";
import { type Address, type Hash, type Seq, zeroHash } from "../base/ids.ts";
import type { BlockRange } from "../chain/raw-log.ts";
import type { BlockFacts, LocatedEvent, QuarantinedLog } from "../market/block-facts.ts";
import type { Fill } from "../market/fill.ts";
import { encodeEvent, subjectOf } from "./codec/event-codec.ts";
import type { Engine } from "./engine/engine.ts";
import { blockRangeSql } from "./schema/fact-tables.ts";

/** The line of a stored row, with the position, time, block, contract and kind of its log. */
export type FactLine = {
  readonly seq: Seq;
  /** The time of the block, in Unix seconds. */
  readonly timestamp: number;
  readonly blockHash: Hash;
  readonly contract: Address;
  /** The kind of event; `order_filled` for fills, `quarantined` for logs that cannot be decoded. */
  readonly event: string;
  readonly text: string;
};

/** The number of facts of a kind, and the sum of their hashes modulo 2^64, in hex. */
type Tally = { readonly count: number; readonly hash: string };

/** Tallies by `<contract> <event>`; kinds that do not occur are left out. */
export type FactSummary = Readonly<Record<string, Tally>>;

/** A field of a line: the SQL that reads it from a row, and the function that reads it from a fact. */
type Field<Fact> = readonly [sql: string, read: (fact: Fact) => string | number | bigint];

/** The facts of one table: the fields of a line, and those in its text. */
type FactFields<Fact> = {
  readonly factsOf: (block: BlockFacts) => readonly Fact[];
  readonly blockHash: readonly [sql: string, read: (fact: Fact) => Hash];
  readonly contract: readonly [sql: string, read: (fact: Fact) => Address];
  readonly event: readonly [sql: string, read: (fact: Fact) => string];
  readonly text: readonly Field<Fact>[];
};

const tables = [
  tableOf<Fill>("fills", {
    factsOf: (block) => block.fills,
    blockHash: [hexOf("block_hash"), (fill) => fill.blockHash],
    contract: [hexOf("exchange_address"), (fill) => fill.exchange.address],
    event: ["'order_filled'", () => "order_filled"],
    text: [
      ["seq", (fill) => fill.seq],
      ["timestamp", (fill) => fill.timestamp],
      [hexOf("block_hash"), (fill) => fill.blockHash],
      [hexOf("tx_hash"), (fill) => fill.txHash],
      ["exchange", (fill) => fill.exchange.exchange],
      ["exchange_version", (fill) => fill.exchange.generation],
      ["role", (fill) => fill.role],
      [hexOf("order_hash"), (fill) => fill.orderHash],
      [hexOf("maker"), (fill) => fill.maker],
      [hexOf("taker"), (fill) => fill.taker],
      ["maker_side", (fill) => fill.makerSide],
      [hexOf("maker_token_id"), (fill) => fill.makerTokenId],
      ["maker_amount", (fill) => fill.makerAmount],
      ["taker_amount", (fill) => fill.takerAmount],
      ["fee", (fill) => formatMicros(fill.fee)],
      ["fee_refund", (fill) => formatMicros(fill.feeRefund)],
      [hexOf("builder"), (fill) => fill.builder ?? zeroHash],
      [hexOf("metadata"), (fill) => fill.metadata ?? zeroHash],
      [hexOf("token_id"), (fill) => fill.tokenId],
      ["side", (fill) => fill.side],
      ["size", (fill) => formatMicros(fill.size)],
      ["value", (fill) => formatMicros(fill.value)],
      ["match_type", (fill) => fill.matchType ?? "none"],
      [hexOf("taker_order_hash"), (fill) => fill.takerOrderHash ?? zeroHash],
      ["match_seq", (fill) => fill.matchSeq ?? 0],
      ["legs", (fill) => fill.legs],
    ],
  }),
  tableOf<LocatedEvent>("events", {
    factsOf: (block) => block.events,
    blockHash: [hexOf("block_hash"), (located) => located.blockHash],
    contract: [hexOf("address"), (located) => located.address],
    event: ["toString(kind)", (located) => located.event.kind],
    text: [
      ["seq", (located) => located.seq],
      ["timestamp", (located) => located.timestamp],
      [hexOf("block_hash"), (located) => located.blockHash],
      [hexOf("tx_hash"), (located) => located.txHash],
      [hexOf("subject"), (located) => subjectOf(located.event)],
      ["payload", (located) => encodeEvent(located.event)],
    ],
  }),
  tableOf<QuarantinedLog>("quarantine", {
    factsOf: (block) => block.quarantined,
    blockHash: ["JSONExtractString(log, 'blockHash')", ({ log }) => log.blockHash],
    contract: ["JSONExtractString(log, 'address')", ({ log }) => log.address],
    event: ["'quarantined'", () => "quarantined"],
    // `reason` is left out: a later version can word it differently.
    text: [
      ["seq", (quarantined) => quarantined.seq],
      ["timestamp", (quarantined) => quarantined.timestamp],
      ["log", (quarantined) => JSON.stringify(quarantined.log)],
    ],
  }),
];

/** Returns the functions that read the lines of a table: from its rows, as SQL, and from the facts of a block. */
function tableOf<Fact extends { readonly seq: Seq; readonly timestamp: number }>(
  name: string,
  fields: FactFields<Fact>,
) {
  const { blockHash, contract, event, text } = fields;
  const values = text.map(([sql]) => `toString(${sql})`).join(", ");
  return {
    select: (range: BlockRange): string =>
      `SELECT seq, timestamp, ${blockHash[0]} AS hash_of_block, ${contract[0]} AS contract, ${event[0]} AS event,
        concatWithSeparator(' ', ${values}) AS text
        FROM ${name} WHERE ${blockRangeSql(range)}`,
    linesOf: (block: BlockFacts): readonly FactLine[] =>
      fields.factsOf(block).map((fact) => ({
        seq: fact.seq,
        timestamp: fact.timestamp,
        blockHash: blockHash[1](fact),
        contract: contract[1](fact),
        event: event[1](fact),
        text: text.map(([, read]) => read(fact)).join(" "),
      })),
  };
}

/** Returns the lines of some blocks, in the order of the chain. */
export function linesOf(blocks: readonly BlockFacts[]): readonly FactLine[] {
  const lines = blocks.flatMap((block) => tables.flatMap((table) => table.linesOf(block)));
  return lines.toSorted((one, other) => one.seq - other.seq);
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
     FROM (${selectLines(range)}) GROUP BY contract, event ORDER BY contract, event`,
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
    `SELECT seq, timestamp, hash_of_block, contract, event, text FROM (${selectLines(range)}) ORDER BY seq`,
  );
  return rows.map(([seq, timestamp, blockHash, contract, event, text]) => ({
    seq: Number(seq) as Seq,
    timestamp: Number(timestamp),
    blockHash: String(blockHash) as Hash,
    contract: String(contract) as Address,
    event: String(event),
    text: String(text),
  }));
}

function selectLines(range: BlockRange): string {
  return tables.map((table) => table.select(range)).join(" UNION ALL ");
}

function hexOf(column: string): string {
  return `concat('0x', lower(hex(${column})))`;
}

/** Formats the lowest 64 bits as the engine's `hex` does: without leading zero bytes. */
function hexOf64(sum: bigint): string {
  const text = BigInt.asUintN(64, sum).toString(16);
  return text.padStart(text.length + (text.length % 2), "0");
}
