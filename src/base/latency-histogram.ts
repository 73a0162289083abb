import { Histogram } from "prom-client";
import { assert } from "./assert.ts";
import { roundToThousandths } from "./round.ts";

type Labels<Label extends string> = Readonly<Record<Label, string>>;

/** How long something took, of one combination of labels; `null` while nothing was measured. */
export type Latency<Label extends string = never> = {
  readonly labels: Labels<Label>;
  readonly count: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
};

/** In seconds: from an answer out of memory to one that nobody waits for any more. */
const bounds = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** How many of all measurements took at most `bound` seconds. */
type Bucket = { readonly bound: number; readonly count: number };

/**
 * How long things take, in buckets. Quantiles are read from the buckets as Prometheus does it, so
 * that who asks us and who asks Prometheus is told the same. An observation costs about 0.5 us.
 */
export class LatencyHistogram<Label extends string = never> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
  /** For a registry to print. */
  readonly instrument: Histogram<Label>;

  /** `name` ends in `_seconds`; values of labels must be bounded. */
  constructor(options: { name: string; help: string; labelNames: readonly Label[] }) {
    this.name = options.name;
    this.help = options.help;
    this.labelNames = options.labelNames;
    // Without `registers` it would land in the library's global registry.
    const labelNames = [...options.labelNames];
    this.instrument = new Histogram({ ...options, labelNames, buckets: bounds, registers: [] });
  }

  observe(labels: Labels<Label>, durationMs: number): void {
    this.instrument.observe(labels, durationMs / 1000);
  }

  /** One entry for each combination of labels that was observed. */
  async read(): Promise<readonly Latency<Label>[]> {
    const { values } = await this.instrument.get();
    const buckets = values.flatMap(({ metricName, labels, value: count }) => {
      if (metricName !== `${this.name}_bucket`) return [];
      const { le, ...own } = labels as Record<string, string>;
      const bound = le === "+Inf" ? Infinity : Number(le);
      return [{ labels: own as Labels<Label>, bound, count }];
    });
    const series = Map.groupBy(buckets, ({ labels }) => JSON.stringify(labels));
    return [...series.values()].map(latencyOf);
  }
}

function latencyOf<Label extends string>(
  buckets: readonly (Bucket & Pick<Latency<Label>, "labels">)[],
): Latency<Label> {
  const [first, last] = [buckets[0], buckets.at(-1)];
  assert(first !== undefined && last !== undefined, "a group has a first and a last member");
  return {
    labels: first.labels,
    count: last.count,
    p50Ms: quantileMs(buckets, 0.5),
    p95Ms: quantileMs(buckets, 0.95),
    p99Ms: quantileMs(buckets, 0.99),
  };
}

/** Evenly spread within its bucket; above the last bound, that bound. */
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
