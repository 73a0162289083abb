import { type Static, Type } from "typebox";
import { divideHalfEven, formatMicros, microsPerUnit } from "../../base/decimal.ts";
import { toBlockNumber, toLogIndex } from "../../base/ids.ts";
import { type Activity, activityTokensMax, getTradeSide } from "../../market/ledger/activity.ts";
import { getCause, getShares, type LedgerRow } from "../../market/ledger/ledger-row.ts";
import { conversionCash } from "../../market/ledger/position.ts";
import { marketRow } from "../market-row.ts";
import { type RowContext, toMarketFields, toTokenFields } from "../trade-row.ts";
import * as wire from "../wire-format.ts";

type Kind = LedgerRow["kind"];

/** The kinds of activity, and those of a filter. */
export const activityKinds: readonly Kind[] = [
  "trade",
  "fee_refund",
  "split",
  "merge",
  "redeem",
  "convert",
  "hsplit",
  "hmerge",
  "wrap",
  "unwrap",
  "compress",
  "migrate",
  "transfer_in",
  "transfer_out",
];
export const activityRoles = ["maker", "taker", "operator"] as const;

const activityToken = Type.Object({
  token_id: wire.tokenIdText,
  condition_id: wire.nullable(wire.conditionIdText),
  outcome: wire.nullableText,
  size: wire.decimalText,
});

/** One thing that a wallet did, or that happened to it. */
export const activityRow = Type.Object({
  id: Type.String(),
  seq: wire.seqNumber,
  wallet: wire.addressText,
  kind: Type.Enum([...activityKinds]),
  role: wire.nullable(Type.Enum([...activityRoles])),
  side: wire.nullable(wire.sideText),
  tokens: Type.Array(activityToken, {
    description: `The tokens that changed, up to ${activityTokensMax}`,
  }),
  tokens_truncated: Type.Boolean(),
  condition_id: wire.nullable(wire.conditionIdText),
  question: marketRow.properties.question,
  slug: marketRow.properties.slug,
  event_id: marketRow.properties.event_id,
  price: wire.nullableDecimal,
  cash_usd: wire.decimalText,
  fee_usd: wire.decimalText,
  fee_shares: wire.decimalText,
  counterparty: wire.nullable(wire.addressText),
  via: wire.nullable(wire.addressText),
  tx_hash: wire.hashText,
  block_number: Type.Integer(),
  log_index: Type.Integer(),
  ...wire.timeShape,
  status: wire.statusText,
});
export type ActivityRow = Static<typeof activityRow>;

/** Activity as clients see it. */
export function toActivityRow(activity: Activity, context: RowContext): ActivityRow {
  const { seq, wallet, rows, txHash, timestamp } = activity;
  const [first] = rows;
  const changes = rows.map((row) => ({ ...context.getToken(row.tokenId), shares: getShares(row) }));
  const tokens = changes.slice(0, activityTokensMax).map((change) => {
    const { token_id, condition_id, outcome } = toTokenFields(change);
    return { token_id, condition_id, outcome, size: formatMicros(change.shares) };
  });
  // All tokens have to be of one market.
  const markets = new Set(changes.map(({ market }) => market?.conditionId));
  const market = markets.size === 1 ? (changes[0]?.market ?? null) : null;
  const blockNumber = toBlockNumber(seq);
  return {
    id: formatActivityId(activity),
    seq,
    wallet,
    kind: first?.kind ?? "trade",
    role: first?.role ?? null,
    side: first === undefined ? null : getTradeSide(first),
    tokens,
    tokens_truncated: rows.length > activityTokensMax,
    condition_id: market && wire.formatConditionId(market.conditionId),
    ...toMarketFields(market),
    price: wire.decimalOrNull(first === undefined ? null : getPrice(first)),
    cash_usd: formatMicros(getCash(activity, context)),
    fee_usd: formatMicros(first?.fee ?? 0n),
    fee_shares: formatMicros(first?.feeShares ?? 0n),
    counterparty: first?.counterparty ?? null,
    via: first?.via ?? null,
    tx_hash: txHash,
    block_number: blockNumber,
    log_index: toLogIndex(seq),
    ...wire.timeFields(timestamp),
    status: blockNumber <= context.finalizedBlock ? "finalized" : "confirmed",
  };
}

/** Identifies activity of any wallet. */
export function formatActivityId({ seq, txHash, wallet, sub }: Activity): string {
  return `${txHash}-${toLogIndex(seq)}-${wallet}-${getCause({ sub })}`;
}

/** The average price of a trade, in micros per share. */
function getPrice({ kind, shares, cash, feeShares }: LedgerRow): bigint | null {
  if (kind !== "trade") return null;
  const size = shares < 0n ? -shares : shares + feeShares;
  return size === 0n ? null : divideHalfEven((cash < 0n ? -cash : cash) * microsPerUnit, size);
}

/** The collateral. That of a conversion of all outcomes is recorded without its fee. */
function getCash({ rows }: Activity, { getFeeBips }: RowContext): bigint {
  const [first] = rows;
  if (first === undefined) return 0n;
  const isWhole = first.kind === "convert" && rows.every(({ shares }) => shares < 0n);
  if (!isWhole) return first.cash;
  return conversionCash(rows, BigInt(getFeeBips(first.tokenId)));
}
