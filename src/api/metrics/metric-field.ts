/** Fields of the metrics, as schemas that also say how Prometheus is shown them. */
import { type TSchemaOptions, Type } from "typebox";

/** How a field is shown to Prometheus; milliseconds as seconds. */
export type ShownMetric = {
  readonly type: "counter" | "gauge";
  /** Without the prefix `oddwire_`, in base units; counters end in `_total`. */
  readonly name: string;
  /** The label that a kind, a state or a text becomes. */
  readonly label?: string;
  /** Labels of this field, where several are one metric. */
  readonly labels?: Readonly<Record<string, string>>;
};

type Labels = Pick<ShownMetric, "label" | "labels">;

/** A field that is a metric. Keywords that begin with `~` are not published. */
export function gauge(name: string, description: string, labels: Labels = {}): TSchemaOptions {
  return { description, ...keyword("metric", { type: "gauge", name, ...labels }) };
}

/** As `gauge`, of what only grows. */
export function counter(name: string, description: string, labels: Labels = {}): TSchemaOptions {
  return { description, ...keyword("metric", { type: "counter", name, ...labels }) };
}

/** A list whose entries these fields distinguish. */
export function labeledBy(...names: readonly string[]): TSchemaOptions {
  return keyword("labels", names);
}

function keyword(name: "metric" | "labels", value: unknown): TSchemaOptions {
  return { [`~${name}`]: value };
}

/** A count; each of these takes what `gauge` and `counter` return, or nothing. */
export const count = (options: TSchemaOptions = {}) => Type.Integer({ minimum: 0, ...options });
/** A number that is not negative. */
export const amount = (options: TSchemaOptions = {}) => Type.Number({ minimum: 0, ...options });
/** From 0 to 1. */
export const share = (options: TSchemaOptions) =>
  Type.Number({ minimum: 0, maximum: 1, ...options });
/** A block number, or what is counted in blocks; `null` when not known. */
export const block = (options: TSchemaOptions = {}) => Type.Union([count(), Type.Null()], options);
/** `null` when not measured. */
export const measured = (options: TSchemaOptions = {}) =>
  Type.Union([amount(), Type.Null()], options);
/** Names of ours, such as kinds of events, and how many of each were counted. */
export const countsByKind = (options: TSchemaOptions) =>
  Type.Record(Type.String(), count(), options);
