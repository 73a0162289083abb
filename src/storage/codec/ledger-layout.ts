/** The rows of `ledger` and `balance_changes`: sequences of fields of fixed length, which are their columns. */
import { type Address, type Seq } from "../../base/ids.ts";
import {
  type BalanceChange,
  type LedgerKind,
  type LedgerRole,
  type LedgerRow,
  type PositionNature,
  zeroAddress,
} from "../../market/ledger/ledger-row.ts";
import { RowReader } from "./row-reader.ts";
import type { RowWriter } from "./row-writer.ts";

/** The words of enumerated fields and their codes. 0 stands for none. */
export const ledgerCodes = {
  kind: {
    trade: 1,
    fee_refund: 2,
    split: 3,
    merge: 4,
    redeem: 5,
    convert: 6,
    hsplit: 7,
    hmerge: 8,
    wrap: 9,
    unwrap: 10,
    compress: 11,
    migrate: 12,
    transfer_in: 13,
    transfer_out: 14,
  } satisfies Record<LedgerKind, number>,
  role: { none: 0, maker: 1, taker: 2, operator: 3 } satisfies Record<LedgerRole | "none", number>,
  nature: { none: 0, foreign: 1, nested: 2, subset: 3, full: 4 } satisfies Record<
    PositionNature | "none",
    number
  >,
} as const;

/** By column of `ledger`, its type and the bytes of a value. Shares are micros modulo 2^256; they never overflow. */
export const ledgerColumns = {
  wallet: ["FixedString(20)", 20],
  seq: ["UInt64", 8],
  sub: ["UInt32", 4],
  timestamp: ["UInt32", 4],
  tx_hash: ["FixedString(32)", 32],
  token_id: ["FixedString(32)", 32],
  kind: [getEnum(ledgerCodes.kind), 1],
  role: [getEnum(ledgerCodes.role), 1],
  nature: [getEnum(ledgerCodes.nature), 1],
  shares: ["Int256", 32],
  cash: ["Decimal(38, 6)", 16],
  fee: ["Decimal(38, 6)", 16],
  fee_shares: ["Decimal(38, 6)", 16],
  counterparty: ["FixedString(20)", 20],
  via: ["FixedString(20)", 20],
} as const;

const balanceColumns = {
  token_id: "FixedString(32)",
  wallet: "FixedString(20)",
  seq: "UInt64",
  timestamp: "UInt32",
  shares: "Int256",
} as const;

/** The column declarations in SQL. */
export const ledgerColumnsSql: string = Object.entries(ledgerColumns)
  .map(([name, [type]]) => declare(name, type))
  .join();
export const balanceColumnsSql: string = Object.entries(balanceColumns)
  .map(([name, type]) => declare(name, type))
  .join();

/** ZSTD saves a fifth of the bytes, and `Delta` half of those of positions and times, which rise within a wallet. */
function declare(name: string, type: string): string {
  const isRising = name === "seq" || name === "timestamp";
  return `${name} ${type} CODEC(${isRising ? "Delta, " : ""}ZSTD)`;
}

/** The length of a row, in bytes. */
export const ledgerBytes: number = Object.values(ledgerColumns).reduce(
  (sum, [, bytes]) => sum + bytes,
  0,
);
export const balanceBytes = 96;

const none = zeroAddress;

/** Writes a row of `ledger`. */
export function writeLedgerRow(rows: RowWriter, row: LedgerRow): void {
  const { kind, role, nature } = ledgerCodes;
  rows.hex(row.wallet).uint64(row.seq).uint32(row.sub).uint32(row.timestamp);
  rows.repeated(0, row.txHash).repeated(1, row.tokenId);
  rows
    .uint8(kind[row.kind])
    .uint8(role[row.role ?? "none"])
    .uint8(nature[row.nature ?? "none"]);
  rows.int256(row.shares).int128(row.cash).int128(row.fee).int128(row.feeShares);
  rows.repeated(2, row.counterparty ?? none).repeated(3, row.via ?? none);
}

/** Writes a row of `balance_changes`. */
export function writeBalanceChange(rows: RowWriter, change: BalanceChange): void {
  rows.repeated(0, change.tokenId).hex(change.wallet);
  rows.uint64(change.seq).uint32(change.timestamp).int256(change.shares);
}

const ledgerOffsets = getOffsets(ledgerColumns);

function ledgerRowAt(
  rows: RowReader,
  row: number,
  at: Readonly<Record<keyof typeof ledgerColumns, number>> = ledgerOffsets,
): LedgerRow {
  const role = toWord(ledgerCodes.role, rows.uint8(row + at.role));
  const nature = toWord(ledgerCodes.nature, rows.uint8(row + at.nature));
  return {
    wallet: rows.address(row + at.wallet),
    seq: rows.uint64(row + at.seq) as Seq,
    sub: rows.uint32(row + at.sub),
    timestamp: rows.uint32(row + at.timestamp),
    txHash: rows.hash(row + at.tx_hash),
    tokenId: rows.tokenId(row + at.token_id),
    kind: toWord(ledgerCodes.kind, rows.uint8(row + at.kind)),
    role: role === "none" ? null : role,
    nature: nature === "none" ? null : nature,
    shares: rows.int256(row + at.shares),
    cash: rows.int128(row + at.cash),
    fee: rows.int128(row + at.fee),
    feeShares: rows.int128(row + at.fee_shares),
    counterparty: unlessNone(rows.address(row + at.counterparty)),
    via: unlessNone(rows.address(row + at.via)),
  };
}

function balanceChangeAt(rows: RowReader, row: number): BalanceChange {
  return {
    tokenId: rows.tokenId(row),
    wallet: rows.address(row + 32),
    seq: rows.uint64(row + 52) as Seq,
    timestamp: rows.uint32(row + 60),
    shares: rows.int256(row + 64),
  };
}

/** Decodes the rows that `writeLedgerRow` wrote. */
export function decodeLedger(rows: Buffer): LedgerRow[] {
  return decodeEach(rows, ledgerBytes, ledgerRowAt);
}

/** Decodes the rows that `writeBalanceChange` wrote. */
export function decodeBalances(rows: Uint8Array): BalanceChange[] {
  return decodeEach(rows, balanceBytes, balanceChangeAt);
}

function decodeEach<Row>(
  rows: Uint8Array,
  bytes: number,
  decode: (rows: RowReader, row: number) => Row,
): Row[] {
  const reader = new RowReader(rows);
  return Array.from({ length: rows.length / bytes }, (_, index) => decode(reader, index * bytes));
}

/** Returns the word of a code. */
export function toWord<Word extends string>(
  codes: Readonly<Record<Word, number>>,
  code: number,
): Word {
  return (toWords.get(codes) ?? readWords(codes))[code] as Word;
}

const toWords = new Map<object, string[]>();

function readWords(codes: Readonly<Record<string, number>>): string[] {
  const words: string[] = [];
  for (const [word, code] of Object.entries(codes)) words[code] = word;
  toWords.set(codes, words);
  return words;
}

function getOffsets<Name extends string>(
  columns: Readonly<Record<Name, readonly [string, number]>>,
): Readonly<Record<Name, number>> {
  let offset = 0;
  const offsets: Record<string, number> = {};
  for (const [name, [, bytes]] of Object.entries<readonly [string, number]>(columns)) {
    offsets[name] = offset;
    offset += bytes;
  }
  return offsets as Record<Name, number>;
}

function getEnum(codes: Readonly<Record<string, number>>): string {
  return `Enum8(${Object.entries(codes)
    .map(([word, code]) => `'${word}' = ${code}`)
    .join()})`;
}

function unlessNone(account: Address): Address | null {
  return account === none ? null : account;
}
