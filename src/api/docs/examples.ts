/** Examples of fields and parameters. Most are from the sample responses, which tests compare with their schemas. */
import type { JsonSchema } from "./api-document.ts";
import sampleAnswers from "./sample-answers.json" with { type: "json" };

/** Fields and parameters that no sample response has, by the field that has such a value. */
const alike: Readonly<Record<string, string>> = {
  block_number: "from_block to_block",
  created_at: "created_after end_after start start_date",
  indexed_seq: "latest_seq",
  maker: "account by fee_receiver user wallet",
  next_cursor: "cursor",
  outcome: "winning_outcome",
  seq: "after_seq min_seq rewind_to_seq",
  size: "max_size min_size",
  // Later than `created_at`.
  last_trade_at: "created_before end end_before end_date last_used_at resolved_at revoked_at",
  timestamp_ms: "resolved_at_ms",
  token_id: "token_ids winning_token_id",
  tx_hash: "builder metadata",
  value_usd: "min_value",
  volume_usd: "min_volume min_volume_24h",
};

/** Values that no field of a sample response has, or that explain more than those. */
const others: Readonly<Record<string, unknown>> = {
  allowed_ips: ["203.0.113.0/24"],
  best_ask: "0.53",
  best_bid: "0.51",
  category: "Politics",
  day: "date=2026-04-28",
  derived: false,
  event_id: "903193",
  at: "2026-04-28T11:36:04Z",
  event_slug: "senate-control-2026",
  expires_at: "2030-01-01T00:00:00Z",
  filled: false,
  finalized_seq: 899_999_999,
  image: "https://example.com/picture.png",
  issue: "must be at most 100",
  max_price: "0.75",
  message: "limit must be at most 100",
  method: "GET",
  mid: "0.52",
  min_price: "0.25",
  outcome_label: "Jane Doe",
  parameter: "limit",
  part: "part-0.parquet",
  payouts: ["1", "0"],
  price_sum: "1.012",
  route: "/v1/trades",
  settlement_price: "1",
  slug: "will-it-rain-in-paris-on-may-1",
  spread: "0.02",
  stale: false,
  table: "fills",
  tag: "weather",
  tags: ["Weather", "Paris"],
  truncated: false,
};

const examples = examplesByName();

/** Returns the example of a schema, or else one of its choices or a value of the field or parameter of this name. */
export function getExample(name: string, schema: JsonSchema): unknown {
  const { type, examples: own, const: only, enum: choices, default: usual, items, anyOf } = schema;
  // The last shape of a union is often `null`.
  if (anyOf?.[0] !== undefined) return getExample(name, anyOf[0]);
  // The default of a parameter shows less than another choice.
  const choice = own?.[0] ?? only ?? choices?.find((one) => one !== usual);
  if (choice !== undefined) return choice;
  if (type === "boolean") return others[name] ?? true;
  const found = usual ?? examples.get(name);
  if (type === "integer" || type === "number") return typeof found === "number" ? found : 1;
  if (items === undefined) return type === "object" ? undefined : found;
  if (Array.isArray(found)) return found;
  const item = getExample(name, items);
  // A number of things can have the name of their list.
  const isNumberItem = items.$ref !== undefined && typeof item === "number";
  return item === undefined || isNumberItem ? undefined : [item];
}

function examplesByName(): ReadonlyMap<string, unknown> {
  const found = new Map(Object.entries(others));
  for (const [name, value] of fieldsIn(sampleAnswers))
    if (typeof value !== "object" && !found.has(name)) found.set(name, value);
  for (const [name, names] of Object.entries(alike))
    for (const other of names.split(" ")) found.set(other, found.get(name));
  return found;
}

function* fieldsIn(value: unknown): Generator<readonly [name: string, value: unknown]> {
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    yield [name, inner];
    yield* fieldsIn(inner);
  }
}
