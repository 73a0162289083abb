/** How the metrics of the table are written down. */
import type { Family, Sample } from "../../base/metrics/prometheus-text.ts";
import type { Metrics } from "./metrics-schema.ts";

/** A metric: its values are read from the same numbers that the JSON shows. */
export type Metric = Omit<Family, "samples"> & {
  readonly read: (metrics: Metrics) => readonly Sample[];
};

type Endpoint = Metrics["indexer"]["endpoints"][number];
type Table = NonNullable<Metrics["store"]["tables"]>[number];

type Head = Pick<Family, "name" | "type" | "help">;

/** What a gauge shows. */
export function gaugeOf(name: string, help: string): Head {
  return { name, type: "gauge", help };
}

/** How a counter is described. */
export function counterOf(name: string, help: string): Head {
  return { name, type: "counter", help };
}

/** A gauge of one value; `null` has no sample. */
export function gauge(
  name: string,
  help: string,
  read: (metrics: Metrics) => number | null,
): Metric {
  return labelled(gaugeOf(name, help), [], (metrics) => one(read(metrics)));
}

/** A counter of one value. */
export function counter(name: string, help: string, read: (metrics: Metrics) => number): Metric {
  return labelled(counterOf(name, help), [], (metrics) => one(read(metrics)));
}

/** A sample for each kind that was counted. */
export function byKind(
  head: Head,
  label: string,
  read: (metrics: Metrics) => Readonly<Record<string, number>>,
): Metric {
  return labelled(head, [label], (metrics) =>
    Object.entries(read(metrics)).map(([kind, value]) => ({ labels: { [label]: kind }, value })),
  );
}

/** A sample for each endpoint. */
export function byHost(head: Head, read: (endpoint: Endpoint) => number | null): Metric {
  return labelled(head, ["host"], ({ indexer }) =>
    indexer.endpoints.flatMap((endpoint) => one(read(endpoint), { host: endpoint.host })),
  );
}

/** A sample for each table. */
export function byTable(head: Head, read: (table: Table) => number): Metric {
  return labelled(head, ["table"], ({ store }) =>
    (store.tables ?? []).map((table) => ({ labels: { table: table.table }, value: read(table) })),
  );
}

/** A metric with labels, in the order of their names. */
export function labelled(head: Head, labelNames: readonly string[], read: Metric["read"]): Metric {
  return { ...head, labelNames, read };
}

/** A value as samples; `null` has none. */
export function one(value: number | null, labels: Sample["labels"] = {}): readonly Sample[] {
  return value === null ? [] : [{ labels, value }];
}
