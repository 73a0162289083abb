import { Type } from "typebox";
import type { LatencyHistogram } from "../../../base/metrics/latency-histogram.ts";
import { formatPrometheus, prometheusContentType } from "../../../base/metrics/prometheus-text.ts";
import { toFamilies } from "../../metrics/metric-table.ts";
import { type Metrics, type MetricsReading, metricsSchema } from "../../metrics/metrics-schema.ts";
import { PackableBytes } from "../../route/gzip.ts";
import { defineRoute, type Route } from "../../route/route.ts";

/** The source of both forms of the metrics. */
export type MetricsSource = {
  read(): Promise<Metrics>;
  /** The readings of the last hour, oldest first. */
  readonly readings: readonly MetricsReading[];
  /** The histograms of the latencies in `read`. */
  readonly histograms: readonly LatencyHistogram<string>[];
};

/** Returns all metrics as JSON. */
export function getMetrics(source: MetricsSource): Route {
  return defineRoute({
    path: "/v1/metrics",
    access: "metrics",
    summary: "Get metrics",
    description: "Metrics of the service as JSON",
    querystring: Type.Object({ include: Type.Optional(Type.Enum(["history"])) }),
    response: metricsSchema,
    handler: async ({ query }) => {
      const history = query.include === undefined ? {} : { history: source.readings };
      return packable(JSON.stringify({ ...(await source.read()), ...history }));
    },
  });
}

/** Returns all metrics in the text format of Prometheus. */
export function getPrometheus(source: MetricsSource): Route {
  return defineRoute({
    path: "/v1/metrics/prometheus",
    access: "metrics",
    summary: "Get metrics as text",
    description: "Metrics in the text format of Prometheus",
    ...asText(source),
  });
}

/** Returns the same text without a key, on a separate listener that only scrapers can reach. */
export function scrapeMetrics(source: MetricsSource): Route {
  return defineRoute({
    path: "/metrics",
    access: "public",
    summary: "Scrape metrics",
    description: "Metrics in the text format of Prometheus, at the path that scrapers expect",
    ...asText(source),
  });
}

function asText(source: MetricsSource) {
  return {
    response: Type.String({ description: "Text format 0.0.4" }),
    contentType: prometheusContentType,
    handler: async () => {
      const families = toFamilies(await source.read());
      return packable(await formatPrometheus(families, source.histograms));
    },
  };
}

function packable(text: string): PackableBytes {
  return new PackableBytes(Buffer.from(text));
}
