import { Counter, Gauge, Registry } from "prom-client";
import type { LatencyHistogram } from "./latency-histogram.ts";

/** One value of a metric. */
export type Sample = {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};

/** A metric that was read elsewhere, with all its values. */
export type Family = {
  /** With the prefix and in base units; counters end in `_total`. */
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly samples: readonly Sample[];
};

/** Of the text format 0.0.4. */
export const prometheusContentType = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Prints what was read in the text format 0.0.4; a family without samples is left out. The
 * registry lives for this one text, so that what no longer exists, such as an endpoint, is not shown.
 */
export async function formatPrometheus(
  families: readonly Family[],
  histograms: readonly LatencyHistogram<string>[],
): Promise<string> {
  const registry = new Registry();
  for (const { type, samples, name, help, labelNames } of families) {
    if (samples.length === 0) continue;
    const options = { name, help, labelNames: [...labelNames], registers: [registry] };
    if (type === "counter") {
      const counter = new Counter(options);
      for (const { labels, value } of samples) counter.inc(labels, value);
    } else {
      const gauge = new Gauge(options);
      for (const { labels, value } of samples) gauge.set(labels, value);
    }
  }
  for (const { metric } of histograms) registry.registerMetric(metric);
  return registry.metrics();
}
