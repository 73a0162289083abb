/** The recording of wallets, with the ledger and balances that the script which made it kept in its books. */
import { formatMicros } from "../../src/base/decimal.ts";
import type { Address, TokenId } from "../../src/base/ids.ts";
import { formatTokenId, parseTokenId, toBlockNumber } from "../../src/base/ids.ts";
import type { LedgerRow } from "../../src/market/ledger/ledger-row.ts";
import { getCause } from "../../src/market/ledger/ledger-row.ts";
import { readFixture } from "./read-fixture.ts";
import type { ScriptedBlock } from "./scripted-block.ts";

export type ExpectedRow = {
  readonly block: number;
  readonly tx_hash: string;
  readonly kind: LedgerRow["kind"] | "resolution";
  readonly wallet: string;
  readonly role?: string;
  readonly nature?: string;
  readonly via?: string;
  readonly counterparty?: string;
  readonly cash_to?: string;
  readonly cash?: string;
  readonly fee?: string;
  readonly fee_shares?: string;
  readonly tokens: readonly (readonly [token: string, shares: string])[];
  readonly num?: readonly string[];
};

export type Branch = {
  readonly from: number;
  readonly to: number;
  readonly blocks: readonly ScriptedBlock[];
  readonly ledger: readonly ExpectedRow[];
  /** The balances that changed, by block. */
  readonly balances: readonly (readonly [
    number,
    readonly (readonly [holder: string, token: string, size: string])[],
  ])[];
};

type ExpectedBalances = {
  readonly holders: readonly Address[];
  readonly tokens: readonly TokenId[];
  readonly blocks: readonly (readonly [number, readonly (readonly [number, number, string])[]])[];
};

export function readExpectedLedger(): readonly ExpectedRow[] {
  return readFixture("wallets/expected-ledger.json.gz") as readonly ExpectedRow[];
}

/** The blocks that were shown before others replaced them. */
export function readBranches(): readonly Branch[] {
  const read = readFixture("wallets/reorgs.json.gz") as
    | readonly Branch[]
    | { readonly reorgs: readonly Branch[] };
  return "reorgs" in read ? read.reorgs : read;
}

export function readExpectedBalances(): ExpectedBalances {
  const read = readFixture("wallets/expected-balances.json.gz") as Omit<
    ExpectedBalances,
    "tokens"
  > & {
    readonly tokens: readonly string[];
  };
  return { ...read, tokens: read.tokens.map((token) => parseTokenId(token) as TokenId) };
}

/** A row with the fields that both sides have; the order of tokens does not matter. */
export function formatExpectedRow(row: ExpectedRow) {
  return {
    block: row.block,
    kind: row.kind,
    wallet: row.wallet,
    role: row.role ?? null,
    nature: row.nature ?? null,
    via: row.via ?? null,
    counterparty: row.counterparty ?? row.cash_to ?? null,
    cash: row.cash ?? "0",
    fee: row.fee ?? "0",
    feeShares: row.fee_shares ?? "0",
    tokens: row.tokens.map(([token, shares]) => `${token} ${shares}`).toSorted(),
  };
}

/** Joins the rows of each cause. */
export function formatRows(rows: readonly LedgerRow[]) {
  const causes = Map.groupBy(rows, (row) => `${row.wallet} ${row.seq} ${getCause(row)}`);
  return [...causes.values()].flatMap((own) => {
    const [row] = own;
    if (row === undefined) return [];
    const { kind, wallet, role, nature, via, counterparty } = row;
    const tokens = own.map(({ tokenId, shares }) => `${formatTokenId(tokenId)} ${shares}`);
    return {
      block: toBlockNumber(row.seq),
      kind,
      wallet,
      role,
      nature,
      via,
      counterparty,
      cash: String(row.cash),
      fee: String(row.fee),
      feeShares: String(row.feeShares),
      tokens: tokens.toSorted(),
    };
  });
}

type ActivityRow = Readonly<Record<string, unknown>>;

/** A row of activity as the lists and the stream have it, in the form of an expected one. */
export function formatActivity(row: ActivityRow): string {
  const tokens = (row["tokens"] as readonly ActivityRow[]).map((token) => {
    return `${String(token["token_id"])} ${String(token["size"])}`;
  });
  const { tx_hash, kind, role, fee_usd, fee_shares, counterparty, via, cash_usd } = row;
  // The fee of a conversion of all outcomes is in the cash of the row, but not in its log.
  const cash = kind === "convert" ? null : cash_usd;
  const fields = [tx_hash, kind, role, fee_usd, fee_shares, counterparty, via, cash];
  return [...fields, ...tokens.toSorted()].join(" ");
}

/** An expected row with the amounts that clients see. */
export function formatExpectedActivity(row: ExpectedRow): string {
  const amount = (text = "0") => formatMicros(BigInt(text));
  const { tokens, ...rest } = formatExpectedRow(row);
  const cash = row.kind === "convert" ? null : amount(rest.cash);
  const fees = [amount(rest.fee), amount(rest.feeShares)];
  const fields = [row.tx_hash, rest.kind, rest.role, ...fees, rest.counterparty, rest.via, cash];
  const sizes = row.tokens.map(([token, shares]) => `${token} ${amount(shares)}`);
  if (tokens.length !== sizes.length) throw new RangeError("each token has a size");
  return [...fields, ...sizes.toSorted()].join(" ");
}
