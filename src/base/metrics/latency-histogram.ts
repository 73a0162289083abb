import { Histogram } from "prom-client";
import { roundToThousandths } from "../round.ts";

type Labels<Label extends string> = Readonly<Record<Label, string>>;

/** The durations of one combination of labels. Quantiles are `null` before the first measurement. */
export type Latency<Label extends string = never> = {
  readonly labels: Partial<Labels<Label>>;
  readonly count: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
};

/** Bucket bounds in seconds, from a cached response to one that clients no longer wait for. */
const bounds = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

type Bucket = { readonly bound: number; readonly count: number };

/** A Prometheus histogram. Quantiles are computed from its buckets as Prometheus does, so that JSON and text agree. */
export class LatencyHistogram<Label extends string = never> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
  readonly metric: Histogram;

  /** `name` ends in `_seconds`. Each label must have a bounded number of values. */
  constructor(options: { name: string; help: string; labelNames: readonly Label[] }) {
    const { name, help, labelNames } = options;
    this.name = name;
    this.help = help;
    this.labelNames = labelNames;
    const settings = { name, help, labelNames: [...labelNames], buckets: bounds, registers: [] };
    this.metric = new Histogram<string>(settings);
  }

  observe(labels: Labels<Label>, durationMs: number): void {
    this.metric.observe(labels, durationMs / 1000);
  }

  /** Returns an entry for each combination of labels; without labels always one. */
  async read(): Promise<readonly Latency<Label>[]> {
    const { values } = await this.metric.get();
    const counts = values.filter(({ metricName }) => metricName === `${this.name}_bucket`);
    const series = Map.groupBy(counts, ({ labels }) =>
      this.labelNames.map((name) => labels[name]).join(" "),
    );
    return [...series.values()].map((samples) => {
      const { le: _le, ...labels } = samples[0]?.labels ?? {};
      const buckets = samples.map(({ labels: { le }, value }) => {
        return { bound: le === "+Inf" ? Infinity : Number(le), count: value };
      });
      return {
        labels: labels as Partial<Labels<Label>>,
        count: buckets.at(-1)?.count ?? 0,
        p50Ms: quantileMs(buckets, 0.5),
        p95Ms: quantileMs(buckets, 0.95),
        p99Ms: quantileMs(buckets, 0.99),
      };
    });
  }
}

/** Interpolates linearly within a bucket. Returns the last bound for quantiles above it. */
function quantileMs(buckets: readonly Bucket[], quantile: number): number | null {
  const total = buckets.at(-1)?.count ?? 0;
  if (total === 0) return null;
  const rank = quantile * total;
  let below: Bucket = { bound: 0, count: 0 };
  for (const bucket of buckets) {
    if (bucket.count >= rank) {
      if (bucket.bound === Infinity) break;
      const share = (rank - below.count) / (bucket.count - below.count);
      return roundToThousandths(1000 * (below.bound + share * (bucket.bound - below.bound)));
    }
    below = bucket;
  }
  return 1000 * below.bound;
}
