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

/** The measurements of one combination of labels. */
class LatencySeries<Label extends string> {
  readonly labels: Labels<Label>;
  /** By the first bound that is not below; the last are above all bounds. */
  readonly #counts = new Float64Array(bounds.length + 1);
  #sumMs = 0;

  constructor(labels: Labels<Label>) {
    this.labels = labels;
  }

  observe(durationMs: number): void {
    const seconds = durationMs / 1000;
    let at = 0;
    while (at < bounds.length && seconds > (bounds[at] ?? 0)) at += 1;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sumMs += durationMs;
  }

  get sumSeconds(): number {
    return this.#sumMs / 1000;
  }

  buckets(): Bucket[] {
    let count = 0;
    return Array.from(this.#counts, (own, at) => {
      count += own;
      return { bound: bounds[at] ?? Infinity, count };
    });
  }
}

/**
 * How long things take, in buckets. Quantiles are read from the buckets as Prometheus does it, so
 * that who asks us and who asks Prometheus is told the same. An observation of a series costs about
 * 0.02 us.
 */
export class LatencyHistogram<Label extends string = never> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
  readonly #series = new Map<string, LatencySeries<Label>>();

  /** `name` ends in `_seconds`; values of labels must be bounded, and need no escaping. */
  constructor(options: { name: string; help: string; labelNames: readonly Label[] }) {
    this.name = options.name;
    this.help = options.help;
    this.labelNames = options.labelNames;
    if (options.labelNames.length === 0) this.seriesOf({} as Labels<Label>);
  }

  observe(labels: Labels<Label>, durationMs: number): void {
    this.seriesOf(labels).observe(durationMs);
  }

  /** Where what has these labels is measured, for who has many of the same. */
  seriesOf(labels: Labels<Label>): Pick<LatencySeries<Label>, "observe"> {
    const key = this.labelNames.map((name) => labels[name]).join(" ");
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const series = new LatencySeries(labels);
    this.#series.set(key, series);
    return series;
  }

  /** One entry for each combination of labels that was observed. */
  read(): readonly Latency<Label>[] {
    return [...this.#series.values()].map(latencyOf);
  }

  /** In the text format 0.0.4 of Prometheus. */
  toText(): string {
    const { name, help } = this;
    const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`];
    for (const series of this.#series.values()) {
      const own = this.labelNames.map((label) => `${label}="${series.labels[label]}"`);
      const buckets = series.buckets();
      for (const { bound, count } of buckets) {
        const le = bound === Infinity ? "+Inf" : bound;
        lines.push(`${name}_bucket{${[`le="${le}"`, ...own].join(",")}} ${count}`);
      }
      const labels = own.length === 0 ? "" : `{${own.join(",")}}`;
      lines.push(`${name}_sum${labels} ${series.sumSeconds}`);
      lines.push(`${name}_count${labels} ${buckets.at(-1)?.count ?? 0}`);
    }
    return `${lines.join("\n")}\n`;
  }
}

function latencyOf<Label extends string>(series: LatencySeries<Label>): Latency<Label> {
  const buckets = series.buckets();
  return {
    labels: series.labels,
    count: buckets.at(-1)?.count ?? 0,
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
