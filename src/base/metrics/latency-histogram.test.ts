import assert from "node:assert/strict";
import { test } from "node:test";
import { LatencyHistogram } from "./latency-histogram.ts";

function histogram(): LatencyHistogram<"route"> {
  return new LatencyHistogram({
    name: "oddwire_test_seconds",
    help: "A test",
    labelNames: ["route"],
  });
}

test("quantiles are interpolated linearly within their bucket", async () => {
  const latency = histogram();
  // 100 measurements between 25 and 50 ms, the bounds of one bucket.
  for (let count = 0; count < 100; count += 1) latency.observe({ route: "/a" }, 30);
  assert.deepEqual(await latency.read(), [
    { labels: { route: "/a" }, count: 100, p50Ms: 37.5, p95Ms: 48.75, p99Ms: 49.75 },
  ]);
});

test("each quantile comes from the bucket that it falls into", async () => {
  const latency = histogram();
  for (let count = 0; count < 90; count += 1) latency.observe({ route: "/a" }, 0.05);
  for (let count = 0; count < 10; count += 1) latency.observe({ route: "/a" }, 700);
  const [read] = await latency.read();
  assert.equal(read?.p50Ms, 0.056);
  assert.equal(read?.p95Ms, 750);
  assert.equal(read?.p99Ms, 950);
});

test("a measurement above the last bound counts as that bound", async () => {
  const latency = histogram();
  latency.observe({ route: "/a" }, 60_000);
  assert.equal((await latency.read())[0]?.p50Ms, 10_000);
});

test("each combination of labels has its own quantiles, from its first measurement on", async () => {
  const latency = histogram();
  assert.deepEqual(await latency.read(), []);
  latency.observe({ route: "/a" }, 1);
  latency.observe({ route: "/b" }, 2);
  latency.observe({ route: "/b" }, 2);
  const counts = (await latency.read()).map(({ labels, count }) => [labels.route, count]);
  assert.deepEqual(counts, [
    ["/a", 1],
    ["/b", 2],
  ]);
});

test("a histogram without labels starts with one entry of count 0", async () => {
  const latency = new LatencyHistogram({ name: "oddwire_t_seconds", help: "T", labelNames: [] });
  assert.deepEqual(await latency.read(), [
    { labels: {}, count: 0, p50Ms: null, p95Ms: null, p99Ms: null },
  ]);
});
