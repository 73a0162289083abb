/** Fields of the metrics, as schemas that also say how Prometheus is shown them. */
import { type TSchema, type TSchemaOptions, Type } from "typebox";

/** How a field is shown to Prometheus; milliseconds as seconds. */
export type ShownMetric = {
  readonly type: "counter" | "gauge";
  /** The label that a kind, a state or a text becomes. */
  readonly label?: string;
  /** Labels of this field, where several are one metric. */
  readonly labels?: Readonly<Record<string, string>>;
};

type Labels = Pick<ShownMetric, "label" | "labels">;

/** The keywords of texts of which each is a metric of 1, with the text as its label. */
export function gauge(description: string, label: string): TSchemaOptions {
  return metric({ type: "gauge", label }, description);
}

/** The keywords of a field that is a metric. Those that begin with `~` are not published. */
function metric(shown: ShownMetric, description: string): TSchemaOptions {
  return { description, "~metric": shown };
}

/** Begins the names of the metrics of an object or a list, in place of the names of the fields that it is in. */
export function prefixed(prefix: string): TSchemaOptions {
  return { "~prefix": prefix };
}

/** A list whose entries differ in these fields, which become labels. */
export function labeledBy(...names: readonly string[]): TSchemaOptions {
  return { "~labels": names };
}

/** Fields of one shape: one that is no metric, and those that are. */
function fieldsOf<Schema extends TSchema>(
  shape: (options: TSchemaOptions) => Schema,
  common: Labels = {},
) {
  const metricOf =
    (type: ShownMetric["type"]) =>
    (help: string, own = common) =>
      shape(metric({ type, ...own }, help));
  return { plain: shape({}), gauge: metricOf("gauge"), counter: metricOf("counter") };
}

export const count = fieldsOf((options) => Type.Integer({ minimum: 0, ...options }));
/** A number that is not negative. */
export const amount = fieldsOf((options) => Type.Number({ minimum: 0, ...options }));
/** From 0 to 1. */
export const share = fieldsOf((options) => Type.Number({ minimum: 0, maximum: 1, ...options }));
/** A block number, or what is counted in blocks; `null` when not known. */
export const block = fieldsOf((options) => Type.Union([count.plain, Type.Null()], options));
/** `null` when not measured. */
export const measured = fieldsOf((options) => Type.Union([amount.plain, Type.Null()], options));
export const flag = fieldsOf((options) => Type.Boolean(options));
/** Names of ours, such as kinds of events, and how many of each were counted; `label` is what a name becomes. */
export const countsBy = (label: string) =>
  fieldsOf((options) => Type.Record(Type.String(), count.plain, options), { label });
