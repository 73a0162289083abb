import type { Caller } from "../../access/admission.ts";
import { type ErrorCode, errorTable } from "../../base/errors.ts";
import { KindCounts } from "../../base/metrics/kind-counts.ts";
import { type Latency, LatencyHistogram } from "../../base/metrics/latency-histogram.ts";
import type { Metrics } from "./metrics-schema.ts";

/** One answered request. */
export type Observation = {
  readonly method: string;
  /** The pattern of the route, never a raw path. */
  readonly route: string;
  readonly status: number;
  /** The code of the error that was sent, if any. */
  readonly code: ErrorCode | null;
  /** `null` when no complete request arrived. */
  readonly durationMs: number | null;
};

/** An answered request without its duration, for metrics and the log. */
export type Answered = Omit<Observation, "durationMs"> & {
  readonly requestId: string;
  readonly caller: Caller;
};

type RouteCounts = {
  readonly method: string;
  readonly route: string;
  readonly statuses: KindCounts;
};

/** Any other method is counted as `other`, because clients can invent any number of them. */
const knownMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "DELETE", "OPTIONS"]);

/** Counts and times requests. Its size is bounded by the numbers of routes, methods and statuses. */
export class RequestMeter {
  readonly latency = new LatencyHistogram({
    name: "oddwire_http_request_duration_seconds",
    help: "From the request's headers to the response's",
    labelNames: ["method", "route"],
  });
  readonly #routes = new Map<string, RouteCounts>();
  readonly #codes = new KindCounts<ErrorCode>();

  observe({ method: given, route, status, code, durationMs }: Observation): void {
    const method = knownMethods.has(given) ? given : "other";
    const counts = this.#getCounts(method, route);
    counts.statuses.add(String(status));
    if (code !== null) this.#codes.add(code);
    if (durationMs === null) return;
    this.latency.observe({ method, route }, durationMs);
  }

  async read(): Promise<Omit<Metrics["api"], "access_changes">> {
    const latencies = await this.latency.read();
    const counted = [...this.#routes.values()];
    const routes = counted.map(({ method, route, statuses }) => {
      const latency = latencies.find(
        ({ labels }) => labels.method === method && labels.route === route,
      );
      return { method, route, statuses: statuses.toRecord(), ...toPercentiles(latency) };
    });
    const codes = Object.entries(this.#codes.toRecord());
    return {
      requests: counted.reduce((sum, { statuses }) => sum + statuses.total, 0),
      errors: codes.filter(isError).reduce((sum, [, count]) => sum + count, 0),
      refusals: Object.fromEntries(codes.filter((entry) => !isError(entry))),
      routes,
    };
  }

  #getCounts(method: string, route: string): RouteCounts {
    const name = `${method} ${route}`;
    const counts = this.#routes.get(name) ?? { method, route, statuses: new KindCounts() };
    this.#routes.set(name, counts);
    return counts;
  }
}

/** Returns the latency fields of the metrics; `null` until a request is measured. */
export function toPercentiles(latency: Latency | undefined) {
  const { p50Ms: p50_ms = null, p95Ms: p95_ms = null, p99Ms: p99_ms = null } = latency ?? {};
  return { p50_ms, p95_ms, p99_ms };
}

function isError([code]: readonly [string, number]): boolean {
  return errorTable[code as ErrorCode].status >= 500;
}
