/** The metrics for Prometheus, derived from the fields of the schema. */
import type { TSchema } from "typebox";
import type { Family, Sample } from "../../base/metrics/prometheus-text.ts";
import type { MetricKeywords } from "./metric-field.ts";
import { type Metrics, metricsSchema } from "./metrics-schema.ts";

type Field = {
  readonly anyOf?: readonly [Field, ...Field[]];
  readonly properties?: Readonly<Record<string, Field>>;
  readonly items?: Field;
  readonly enum?: readonly string[];
  readonly description?: string;
  readonly "~metric"?: MetricKeywords;
  readonly "~prefix"?: string;
  readonly "~labels"?: readonly string[];
};

/** A value of a reading with the labels of the lists around it. For `metricTable` every value is `undefined`. */
type Reading = {
  readonly name: string;
  readonly prefix: string;
  readonly value: unknown;
  readonly labelNames: readonly string[];
  readonly labels: Sample["labels"];
};

/** Names that all services share, as prom-client has them: dashboards for Node fit. */
const conventional = /^(?:process|nodejs)_/;

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

function* walk(field: Field, reading: Reading): Generator<Family> {
  const { description: help = "", "~metric": metric } = field;
  if (metric !== undefined) yield toFamily({ ...metric, help, states: field.enum }, reading);
  // Every union is of a shape and `null`.
  const { properties = {}, items, ...keywords } = field.anyOf?.[0] ?? field;
  const { "~labels": names = [], "~prefix": prefix = getName(reading) } = keywords;
  for (const [name, property] of Object.entries(properties))
    yield* walk(property, { ...reading, name, prefix, value: valueAt(reading.value, name) });
  if (items === undefined) return;
  const labelNames = [...reading.labelNames, ...names];
  for (const value of toEntries(reading.value)) {
    const entryLabels = Object.fromEntries(
      names.map((name) => [name, String(valueAt(value, name))]),
    );
    const labels = { ...reading.labels, ...entryLabels };
    yield* walk(items, { name: "", prefix, value, labelNames, labels });
  }
}

function toFamily(
  metric: MetricKeywords & {
    readonly help: string;
    readonly states: readonly string[] | undefined;
  },
  reading: Reading,
): Family {
  const { value, labels, labelNames } = reading;
  const { type, help, label, labels: fixed = {}, states, name: own } = metric;
  const isMilliseconds = reading.name.endsWith("_ms");
  const derived =
    getName(reading).replace(/_ms$/, "_seconds") + (type === "counter" ? "_total" : "");
  const samples = toNumbers(value, states).map(([key, number]) => ({
    labels: { ...labels, ...fixed, ...(label === undefined ? {} : { [label]: key }) },
    value: isMilliseconds ? number / 1000 : number,
  }));
  const ownLabels = [...Object.keys(fixed), ...(label === undefined ? [] : [label])];
  const ownName = own ?? derived;
  const name = conventional.test(ownName) ? ownName : `oddwire_${ownName}`;
  return { name, type, help, labelNames: [...labelNames, ...ownLabels], samples };
}

/** Returns the derived name of a value: the prefix and its own name. */
function getName({ prefix, name }: Reading): string {
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
