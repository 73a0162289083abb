import { Counter, Gauge, Registry } from "prom-client";
import type { LatencyHistogram } from "./latency-histogram.ts";

/** One value of a metric. */
export type Sample = {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};

/** A metric whose values were read elsewhere. */
export type Family = {
  /** The full name, with prefix and base unit. Names of counters end in `_total`. */
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly samples: readonly Sample[];
};

/** The content type of the Prometheus text format 0.0.4. */
export const prometheusContentType = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Formats metrics in the text format 0.0.4. Omits families without samples. Each text has a new
 * registry, so that values of things that no longer exist, such as an endpoint, are omitted.
 */
export async function formatPrometheus(
  families: readonly Family[],
  histograms: readonly LatencyHistogram<string>[],
): Promise<string> {
  const registry = new Registry();
  for (const { type, samples, name, help, labelNames } of families) {
    if (samples.length === 0) continue;
    const options = { name, help, labelNames: [...labelNames], registers: [registry] };
    const metric = type === "counter" ? new Counter(options) : new Gauge(options);
    // A new metric starts at 0.
    for (const { labels, value } of samples) metric.inc(labels, value);
  }
  for (const { metric } of histograms) registry.registerMetric(metric);
  return registry.metrics();
}
