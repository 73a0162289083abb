/** Schemas of fields of the metrics, each with its type and labels in Prometheus. */
import { type TSchema, type TSchemaOptions, Type } from "typebox";

/** The Prometheus metric of a field. Milliseconds become seconds. */
export type MetricKeywords = {
  readonly type: "counter" | "gauge";
  /** The name, if several fields are samples of one metric or Prometheus has a convention; else that of the field. */
  readonly name?: string;
  /** Name of the label that has the kind, the state or the text. */
  readonly label?: string;
  /** Labels that distinguish this field from others of the same metric. */
  readonly labels?: Readonly<Record<string, string>>;
};

type FieldKeywords = Omit<MetricKeywords, "type">;

/** Returns keywords of a field with one or several texts. Each text is a sample of 1 with the text as its label. */
export function gauge(
  description: string,
  label: string,
  keywords: FieldKeywords = {},
): TSchemaOptions {
  return metric({ type: "gauge", label, ...keywords }, description);
}

/** Returns keywords of a field that is a metric. Keywords that begin with `~` are not published. */
function metric(keywords: MetricKeywords, description: string): TSchemaOptions {
  return { description, "~metric": keywords };
}

/** Returns keywords that set the prefix of metric names in an object or list, by default its enclosing fields. */
export function prefixed(prefix: string): TSchemaOptions {
  return { "~prefix": prefix };
}

/** Returns keywords of a list whose entries are distinguished by these fields, which become labels. */
export function labeledBy(...names: readonly string[]): TSchemaOptions {
  return { "~labels": names };
}

/** Returns the fields of a shape: one that is not a metric, a gauge and a counter. */
function getFields<Schema extends TSchema>(
  shape: (options: TSchemaOptions) => Schema,
  common: FieldKeywords = {},
) {
  const getMetric =
    (type: MetricKeywords["type"]) =>
    (help: string, keywords: FieldKeywords = {}) =>
      shape(metric({ type, ...common, ...keywords }, help));
  return { plain: shape({}), gauge: getMetric("gauge"), counter: getMetric("counter") };
}

export const count = getFields((options) => Type.Integer({ minimum: 0, ...options }));
/** A number that is not negative. */
export const amount = getFields((options) => Type.Number({ minimum: 0, ...options }));
/** A number from 0 to 1. */
export const share = getFields((options) => Type.Number({ minimum: 0, maximum: 1, ...options }));
/** A block number or a number of blocks; `null` when not known. */
export const block = getFields((options) => Type.Union([count.plain, Type.Null()], options));
/** A number that is not negative; `null` when not measured. */
export const measured = getFields((options) => Type.Union([amount.plain, Type.Null()], options));
export const flag = getFields((options) => Type.Boolean(options));
/** Counts by name, such as by kind of event. `label` is the name of the label that has the name. */
export const countsBy = (label: string) =>
  getFields((options) => Type.Record(Type.String(), count.plain, options), { label });
