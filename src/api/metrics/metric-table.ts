/** The metrics for Prometheus, derived from the fields of the schema. */
import type { TSchema } from "typebox";
import type { Family, Sample } from "../../base/metrics/prometheus-text.ts";
import type { ShownMetric } from "./metric-field.ts";
import { type Metrics, metricsSchema } from "./metrics-schema.ts";

type Field = {
  readonly anyOf?: readonly [Field, ...Field[]];
  readonly properties?: Readonly<Record<string, Field>>;
  readonly items?: Field;
  readonly enum?: readonly string[];
  readonly description?: string;
  readonly "~metric"?: ShownMetric;
  readonly "~prefix"?: string;
  readonly "~labels"?: readonly string[];
};

/** A value of a reading with the labels of the lists around it. For `metricTable` every value is `undefined`. */
type Place = {
  readonly name: string;
  /** Prefix of the names of metrics here. */
  readonly prefix: string;
  readonly value: unknown;
  readonly labelNames: readonly string[];
  readonly labels: Sample["labels"];
};

/** Metric names, by the name derived from the fields, where they differ. */
const renamed: Readonly<Record<string, string>> = {
  uptime_seconds: "process_uptime_seconds",
  version: "build_info",
  role: "process_role",
  indexer_warnings: "indexer_warning",
  audit_round_progress: "audit_round_progress_ratio",
  audit_audited_from_block: "audit_from_block",
  audit_audited_to_block: "audit_to_block",
  backfill_progress: "backfill_progress_ratio",
  backfill_seconds_left: "backfill_remaining_seconds",
  rpc_bad_answers_total: "rpc_invalid_responses_total",
  rpc_breaker: "rpc_breaker_state",
  rpc_calls_per_second: "rpc_calls_per_second_max",
  rpc_range_blocks_cap: "rpc_range_blocks_max",
  http_access_changes_total: "access_changes_total",
  http_routes_statuses_total: "http_requests_total",
  stream_bytes_total: "stream_sent_bytes_total",
  store_queries_failures_total: "store_failures_total",
  store_inserts_failures_total: "store_failures_total",
  store_answered_by_answers_total: "query_reads_total",
  is_active: "indexer_active",
  active_node: "indexer_active_info",
  term: "feed_term",
  feed_has_hole: "feed_hole_state",
  open_claims: "indexer_open_claims",
  access_limits_inexact_seconds_total: "limits_inexact_seconds_total",
  orderbooks_hashes_usable: "orderbooks_hash_check_enabled",
  orderbooks_false_alarms_total: "orderbooks_hash_false_positives_total",
  orderbooks_requests_total: "venue_requests_total",
  orderbooks_errors_total: "venue_errors_total",
  orderbooks_connections_open: "venue_connections",
  orderbooks_connections_total: "venue_connections_total",
  process_resident_bytes: "process_resident_memory_bytes",
  process_external_bytes: "process_external_memory_bytes",
  process_cpu_user_seconds_total: "process_cpu_seconds_total",
  process_cpu_system_seconds_total: "process_cpu_seconds_total",
};

/** Every metric but the histograms. */
export const metricTable: readonly Omit<Family, "samples">[] = toFamilies();

/** Returns the metrics of a reading. A value that is not known has no sample. */
export function toFamilies(metrics?: Metrics): readonly Family[] {
  const families = new Map<string, Family>();
  const root = { name: "", prefix: "", value: metrics, labelNames: [], labels: {} };
  const schema: TSchema = metricsSchema;
  for (const family of walk(schema, root)) {
    const samples = [...(families.get(family.name)?.samples ?? []), ...family.samples];
    families.set(family.name, { ...family, samples });
  }
  return [...families.values()];
}

function* walk(field: Field, place: Place): Generator<Family> {
  const { description: help = "", "~metric": shown } = field;
  if (shown !== undefined) yield toFamily({ ...shown, help, states: field.enum }, place);
  // Every union is of a shape and `null`.
  const { properties = {}, items, ...keywords } = field.anyOf?.[0] ?? field;
  const { "~labels": names = [], "~prefix": prefix = getName(place) } = keywords;
  for (const [name, property] of Object.entries(properties))
    yield* walk(property, { ...place, name, prefix, value: valueAt(place.value, name) });
  if (items === undefined) return;
  const labelNames = [...place.labelNames, ...names];
  for (const value of toEntries(place.value)) {
    const own = Object.fromEntries(names.map((name) => [name, String(valueAt(value, name))]));
    const labels = { ...place.labels, ...own };
    yield* walk(items, { name: "", prefix, value, labelNames, labels });
  }
}

function toFamily(
  metric: ShownMetric & { readonly help: string; readonly states: readonly string[] | undefined },
  place: Place,
): Family {
  const { value, labels, labelNames } = place;
  const { type, help, label, labels: fixed = {}, states } = metric;
  const isMilliseconds = place.name.endsWith("_ms");
  const derived = getName(place).replace(/_ms$/, "_seconds") + (type === "counter" ? "_total" : "");
  const name = renamed[derived] ?? derived;
  const samples = toNumbers(value, states).map(([key, number]) => ({
    labels: { ...labels, ...fixed, ...(label === undefined ? {} : { [label]: key }) },
    value: isMilliseconds ? number / 1000 : number,
  }));
  const own = [...Object.keys(fixed), ...(label === undefined ? [] : [label])];
  return { name: `oddwire_${name}`, type, help, labelNames: [...labelNames, ...own], samples };
}

/** Returns the derived name of a value: the prefix and its own name. */
function getName({ prefix, name }: Place): string {
  return prefix === "" || name === "" ? `${prefix}${name}` : `${prefix}_${name}`;
}

/** Returns the samples of a value by label: counts by kind, 1 for a text, or 1 for its state and 0 for other states. */
function toNumbers(value: unknown, states?: readonly string[]): readonly [string, number][] {
  if (value === null || value === undefined) return [];
  if (states !== undefined) return states.map((state) => [state, Number(state === value)]);
  if (Array.isArray(value)) return value.map((kind) => [String(kind), 1]);
  if (typeof value === "object")
    return Object.entries(value).map(([kind, number]) => [kind, Number(number)]);
  return typeof value === "string" ? [[value, 1]] : [["", Number(value)]];
}

function valueAt(value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
}

/** Returns the entries of a list. An empty list has one `undefined` entry, so that the table names its metrics. */
function toEntries(value: unknown): readonly unknown[] {
  return Array.isArray(value) && value.length > 0 ? value : [undefined];
}
