/** Reads the stored ledger as bytes. */
import type { Address, Seq } from "../../base/ids.ts";
import type { BalanceChange, LedgerRow } from "../../market/ledger/ledger-row.ts";
import type { FoldRow } from "../../market/ledger/position.ts";
import type { Engine } from "../engine/engine.ts";
import { inOrderSettings } from "../engine/read-settings.ts";
import { hexLiteral, integerLiteral } from "../sql-literal.ts";
import { readRows } from "./fixed-rows.ts";
import {
  decodeBalances,
  decodeLedger,
  ledgerCodes,
  ledgerColumns,
  toWord,
} from "./ledger-layout.ts";

/** Rows of one query: some megabytes. */
const pageRows = 50_000;

const foldColumns = getColumns([
  "seq",
  "sub",
  "timestamp",
  "token_id",
  "kind",
  "role",
  "nature",
  "shares",
  "cash",
  "fee",
]);

/** Reads whole rows. `clauses` follow `FROM ledger`. */
export async function readLedger(engine: Engine, clauses: string): Promise<LedgerRow[]> {
  return decodeLedger(await engine.queryBinary(`SELECT * FROM ledger ${clauses}`, "RowBinary"));
}

/** Reads changes of balances. `clauses` follow `FROM balance_changes`. */
export async function readBalances(engine: Engine, clauses: string): Promise<BalanceChange[]> {
  const sql = `SELECT * FROM balance_changes ${clauses}`;
  return decodeBalances(await engine.queryBinary(sql, "RowBinary"));
}

/** Whether a wallet has a row below a position. */
export async function hasLedger(engine: Engine, wallet: Address, below: Seq): Promise<boolean> {
  const condition = `wallet = ${hexLiteral(wallet)} AND seq < ${integerLiteral(below)}`;
  const rows = await engine.query(
    `SELECT 1 FROM ledger WHERE ${condition} LIMIT 1 SETTINGS ${inOrderSettings}`,
  );
  return rows.length > 0;
}

/** Reads what the fold needs of the rows of a wallet below a position, in order. Yields pages, as they are read. */
export async function* readFoldRows(
  engine: Engine,
  wallet: Address,
  below: Seq,
): AsyncGenerator<Iterable<FoldRow>, void, undefined> {
  const condition = `wallet = ${hexLiteral(wallet)} AND seq < ${integerLiteral(below)}`;
  let after = "1";
  for (;;) {
    const clauses = `FROM ledger WHERE ${condition} AND ${after} ORDER BY seq, sub LIMIT ${pageRows}
      SETTINGS ${inOrderSettings}`;
    let [count, seq, sub] = [0, 0, 0];
    const rows = await readRows(engine, { columns: foldColumns, clauses }, (reader, row, at) => {
      count += 1;
      seq = reader.uint64(row + at.seq);
      sub = reader.uint32(row + at.sub);
      const role = toWord(ledgerCodes.role, reader.uint8(row + at.role));
      const nature = toWord(ledgerCodes.nature, reader.uint8(row + at.nature));
      return {
        seq: seq as Seq,
        sub,
        timestamp: reader.uint32(row + at.timestamp),
        tokenId: reader.tokenId(row + at.token_id),
        kind: toWord(ledgerCodes.kind, reader.uint8(row + at.kind)),
        role: role === "none" ? null : role,
        nature: nature === "none" ? null : nature,
        shares: reader.int256(row + at.shares),
        cash: reader.int128(row + at.cash),
        fee: reader.int128(row + at.fee),
      };
    });
    yield rows;
    if (count < pageRows) return;
    after = `(seq > ${integerLiteral(seq)} OR (seq = ${integerLiteral(seq)} AND sub > ${integerLiteral(sub)}))`;
  }
}

function getColumns<Name extends keyof typeof ledgerColumns>(
  names: readonly Name[],
): Readonly<Record<Name, readonly [string, number]>> {
  return Object.fromEntries(
    names.map((name) => [name, [name, ledgerColumns[name][1]]]),
  ) as unknown as Record<Name, readonly [string, number]>;
}
