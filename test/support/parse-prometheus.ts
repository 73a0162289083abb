/** A strict parser of Prometheus' text format 0.0.4, which also checks the conventions of our metrics. */
import assert from "node:assert/strict";

type Family = { readonly type: string; readonly help: string };
type Sample = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};

export type Scrape = {
  readonly families: ReadonlyMap<string, Family>;
  readonly samples: readonly Sample[];
  /** The value of the only sample with this name and exactly these labels; fails if there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number;
  /** All samples of a name, by the value of one label. */
  byLabel(name: string, label: string): Record<string, number>;
};

const sampleLine =
  /^([a-z0-9_]+)(?:\{(.*)\})? (NaN|[+-]Inf|-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)$/;
const labelPair = /^([a-z0-9_]+)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/;

export function parsePrometheus(text: string): Scrape {
  assert.ok(text.endsWith("\n"), "the last line ends too");
  const families = new Map<string, Family>();
  const samples: Sample[] = [];
  let current = "";
  let help = "";
  for (const line of text.split("\n")) {
    const [, keyword, name = "", rest = ""] = /^# (HELP|TYPE) ([a-z0-9_]+) (.+)$/.exec(line) ?? [];
    if (line === "") continue;
    if (keyword === "HELP") {
      help = rest;
      current = name;
    } else if (keyword === "TYPE") {
      assert.equal(name, current, "HELP and TYPE come together");
      assert.ok(!families.has(name), `${name} comes once`);
      assert.match(rest, /^(counter|gauge|histogram)$/);
      families.set(name, { type: rest, help });
    } else {
      const sample = parseSample(line);
      assert.equal(toFamily(sample.name, families.get(current)?.type), current, line);
      samples.push(sample);
    }
  }
  const values = new Map(samples.map((sample) => [getKey(sample), sample.value]));
  assert.equal(values.size, samples.length, "no series comes twice");
  for (const [name, family] of families) assertHouseRules(name, family, samples);
  return {
    families,
    samples,
    value: (name, labels = {}) => {
      const value = values.get(getKey({ name, labels }));
      assert.ok(value !== undefined, `there is no ${getKey({ name, labels })}`);
      return value;
    },
    byLabel: (name, label) => {
      const own = samples.filter((sample) => sample.name === name);
      return Object.fromEntries(own.map(({ labels, value }) => [labels[label], value]));
    },
  };
}

function parseSample(line: string): Sample {
  const [, name = "", inBraces = "", value = ""] = sampleLine.exec(line) ?? [];
  assert.ok(name !== "", `no sample: ${line}`);
  const labels: Record<string, string> = {};
  for (let rest = inBraces; rest !== ""; ) {
    const [pair, label = "", quoted = ""] = labelPair.exec(rest) ?? [];
    assert.ok(pair !== undefined && !(label in labels), `no labels: ${line}`);
    labels[label] = quoted.replaceAll(/\\(.)/g, (_, char: string) => (char === "n" ? "\n" : char));
    rest = rest.slice(pair.length);
  }
  return { name, labels, value: Number(value.replace("Inf", "Infinity")) };
}

function toFamily(name: string, type: string | undefined): string {
  return type === "histogram" ? name.replace(/_(?:bucket|sum|count)$/, "") : name;
}

function getKey({ name, labels }: Pick<Sample, "name" | "labels">): string {
  const pairs = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `${name}${JSON.stringify(pairs)}`;
}

function assertHouseRules(name: string, { type, help }: Family, samples: readonly Sample[]): void {
  assert.match(name, /^(?:oddwire|process|nodejs)_/);
  assert.ok(help.length > 3, `${name} says what it is`);
  assert.doesNotMatch(name, /_(ms|millis|kb|minutes|percent)(_|$)/, "base units only");
  assert.equal(type === "counter", name.endsWith("_total"), name);
  const own = samples.filter((sample) => toFamily(sample.name, type) === name);
  // A histogram without samples has not measured anything yet.
  assert.ok(own.length > 0 || type === "histogram", `${name} has samples`);
  if (type === "counter") assert.ok(own.every(({ value }) => value >= 0));
  if (type === "histogram") assertHistogram(name, own);
}

function assertHistogram(name: string, own: readonly Sample[]): void {
  const series = Map.groupBy(own, ({ labels }) => {
    const others = Object.entries(labels).filter(([label]) => label !== "le");
    return getKey({ name, labels: Object.fromEntries(others) });
  });
  for (const [key, samples] of series) {
    const buckets = samples.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) => Number(labels["le"]?.replace("Inf", "Infinity")));
    assert.deepEqual(
      bounds,
      bounds.toSorted((a, b) => a - b),
      key,
    );
    const counts = buckets.map(({ value }) => value);
    assert.deepEqual(
      counts,
      counts.toSorted((a, b) => a - b),
      key,
    );
    assert.equal(bounds.at(-1), Infinity, key);
    const count = samples.find((sample) => sample.name === `${name}_count`);
    assert.equal(count?.value, counts.at(-1), key);
    assert.ok(
      samples.some((sample) => sample.name === `${name}_sum`),
      key,
    );
  }
}
