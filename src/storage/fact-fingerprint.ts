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

/** The line of a stored row, with the position, block, contract and kind of its log. */
export type FactLine = {
  readonly seq: Seq;
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

const fillFields: readonly Field<Fill>[] = [
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
];

const eventFields: readonly Field<LocatedEvent>[] = [
  ["seq", (located) => located.seq],
  ["timestamp", (located) => located.timestamp],
  [hexOf("block_hash"), (located) => located.blockHash],
  [hexOf("tx_hash"), (located) => located.txHash],
  [hexOf("subject"), (located) => subjectOf(located.event)],
  ["payload", (located) => encodeEvent(located.event)],
];

/** `reason` is left out: a later version can word it differently. */
const quarantineFields: readonly Field<QuarantinedLog>[] = [
  ["seq", (quarantined) => quarantined.seq],
  ["timestamp", (quarantined) => quarantined.timestamp],
  ["log", (quarantined) => JSON.stringify(quarantined.log)],
];

const tables = [
  {
    name: "fills",
    blockHash: hexOf("block_hash"),
    contract: hexOf("exchange_address"),
    event: "'order_filled'",
    fields: fillFields,
  },
  {
    name: "events",
    blockHash: hexOf("block_hash"),
    contract: hexOf("address"),
    event: "toString(kind)",
    fields: eventFields,
  },
  {
    name: "quarantine",
    blockHash: "JSONExtractString(log, 'blockHash')",
    contract: "JSONExtractString(log, 'address')",
    event: "'quarantined'",
    fields: quarantineFields,
  },
] as const;

/** Returns the lines of some blocks, in the order of the chain. */
export function linesOf(blocks: readonly BlockFacts[]): readonly FactLine[] {
  const lines = blocks.flatMap((block) => [
    ...block.fills.map((fill) => ({
      seq: fill.seq,
      blockHash: fill.blockHash,
      contract: fill.exchange.address,
      event: "order_filled",
      text: textOf(fill, fillFields),
    })),
    ...block.events.map((located) => ({
      seq: located.seq,
      blockHash: located.blockHash,
      contract: located.address,
      event: located.event.kind,
      text: textOf(located, eventFields),
    })),
    ...block.quarantined.map((quarantined) => ({
      seq: quarantined.seq,
      blockHash: quarantined.log.blockHash,
      contract: quarantined.log.address,
      event: "quarantined",
      text: textOf(quarantined, quarantineFields),
    })),
  ]);
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

/** Whether two summaries describe the same facts. */
export function areSummariesEqual(one: FactSummary, other: FactSummary): boolean {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every(
      (name) => one[name]?.count === other[name]?.count && one[name]?.hash === other[name]?.hash,
    )
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
    `SELECT seq, hash_of_block, contract, event, text FROM (${selectLines(range)}) ORDER BY seq`,
  );
  return rows.map(([seq, blockHash, contract, event, text]) => ({
    seq: Number(seq) as Seq,
    blockHash: String(blockHash) as Hash,
    contract: String(contract) as Address,
    event: String(event),
    text: String(text),
  }));
}

function selectLines(range: BlockRange): string {
  return tables
    .map(({ name, blockHash, contract, event, fields }) => {
      const values = fields.map(([sql]) => `toString(${sql})`).join(", ");
      return `SELECT seq, ${blockHash} AS hash_of_block, ${contract} AS contract, ${event} AS event,
        concatWithSeparator(' ', ${values}) AS text
        FROM ${name} WHERE ${blockRangeSql(range)}`;
    })
    .join(" UNION ALL ");
}

function textOf<Fact>(fact: Fact, fields: readonly Field<Fact>[]): string {
  return fields.map(([, read]) => read(fact)).join(" ");
}

function hexOf(column: string): string {
  return `concat('0x', lower(hex(${column})))`;
}

/** Formats the lowest 64 bits as the engine's `hex` does: without leading zero bytes. */
function hexOf64(sum: bigint): string {
  const text = BigInt.asUintN(64, sum).toString(16);
  return text.padStart(text.length + (text.length % 2), "0");
}
