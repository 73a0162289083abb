/** SQL views for other tools, such as Grafana: committed facts in readable columns. Oddwire never reads them. */
import { onCluster, type SchemaTarget } from "./schema-target.ts";

/** Returns the statements for `trades`, `candles` and `markets` (conditions of generations 1 and 2). */
export function toolViews(target: SchemaTarget): readonly string[] {
  if (target.kind === "embedded") return [];
  const { database } = target;
  const token = "toString(reinterpretAsUInt256(reverse(token_id))) AS token_id";
  return [
    `${createView(target, "trades")} SELECT fills.seq AS seq, intDiv(seq, 1000000) AS block_number,
  toDateTime(timestamp, 'UTC') AS time,
  ${toHex("tx_hash")}, ${token}, side, size, value, if(size = 0, NULL, value / size) AS price,
  ${toHex("maker")}, ${toHex("taker")}, exchange, fee
FROM ${database}.fills AS fills
WHERE role != 'taker' AND seq < ${getEnd(database)}`,
    `${createView(target, "candles")} SELECT ${token}, toDateTime(minute, 'UTC') AS time,
  ${getPrice("min(open)")} AS open, max(high) AS high, min(low) AS low,
  ${getPrice("max(close)")} AS close, sum(volume) AS volume, sum(buy_volume_usd) AS buy_volume_usd,
  sum(sell_volume_usd) AS sell_volume_usd, sum(trades) AS trades
FROM ${database}.minute_candles AS minutes
WHERE minute < (SELECT intDiv(max(last_timestamp), 60) * 60 FROM ${database}.commits)
GROUP BY minutes.token_id, minute`,
    `${createView(target, "markets")} SELECT condition_id, question, token_ids, prepared_at, resolved_at, payouts
FROM (
  SELECT concat('0x', lower(hex(subject))) AS condition_id,
    anyIf(${toJson("questionId")}, kind = 'condition_prepared') AS question_id,
    anyIf([${toDecimal("token0")}, ${toDecimal("token1")}], kind = 'token_registered') AS token_ids,
    minIf(toNullable(toDateTime(timestamp, 'UTC')), kind = 'condition_prepared') AS prepared_at,
    maxIf(toNullable(toDateTime(timestamp, 'UTC')), kind = 'condition_resolved') AS resolved_at,
    anyIf(JSONExtract(payload, 'payouts', 'Array(String)'), kind = 'condition_resolved') AS payouts
  FROM ${database}.events
  WHERE kind IN ('condition_prepared', 'condition_resolved', 'token_registered') AND seq < ${getEnd(database)}
  GROUP BY subject
) AS conditions
GLOBAL LEFT JOIN (
  SELECT ${toJson("questionId")} AS question_id, any(unhex(substring(${toJson("text")}, 3))) AS question
  FROM ${database}.events
  WHERE kind IN ('question_initialized', 'neg_risk_question_prepared') AND seq < ${getEnd(database)}
  GROUP BY question_id
) AS questions USING question_id`,
  ];
}

function createView(target: Exclude<SchemaTarget, { kind: "embedded" }>, name: string): string {
  return `CREATE VIEW IF NOT EXISTS ${target.database}.${name}${onCluster(target)} AS`;
}

/** Returns SQL for the first position that is not committed. */
function getEnd(database: string): string {
  return `(SELECT (max(to_block) + 1) * 1000000 FROM ${database}.commits)`;
}

/** Returns SQL for the price of a `tick` of `minute-layout.ts`: its lowest 128 bits. */
function getPrice(tick: string): string {
  return `reinterpret(toInt128(${tick}), 'Decimal(38, 6)')`;
}

function toJson(field: string): string {
  return `JSONExtractString(payload, '${field}')`;
}

function toDecimal(field: string): string {
  return `toString(reinterpretAsUInt256(reverse(unhex(substring(${toJson(field)}, 3)))))`;
}

function toHex(column: string): string {
  return `concat('0x', lower(hex(${column}))) AS ${column}`;
}
