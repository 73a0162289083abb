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

test("quantiles are spread evenly within their bucket", async () => {
  const latency = histogram();
  // 100 measurements between 25 and 50 ms, the bounds of one bucket.
  for (let count = 0; count < 100; count += 1) latency.observe({ route: "/a" }, 30);
  assert.deepEqual(await latency.read(), [
    { labels: { route: "/a" }, count: 100, p50Ms: 37.5, p95Ms: 48.75, p99Ms: 49.75 },
  ]);
});

test("quantiles of mixed measurements come from the buckets they fall into", async () => {
  const latency = histogram();
  for (let count = 0; count < 90; count += 1) latency.observe({ route: "/a" }, 0.05);
  for (let count = 0; count < 10; count += 1) latency.observe({ route: "/a" }, 700);
  const [read] = await latency.read();
  assert.equal(read?.p50Ms, 0.056);
  assert.equal(read?.p95Ms, 750);
  assert.equal(read?.p99Ms, 950);
});

test("what takes longer than the last bound counts as that bound", async () => {
  const latency = histogram();
  latency.observe({ route: "/a" }, 60_000);
  assert.equal((await latency.read())[0]?.p50Ms, 10_000);
});

test("each combination of labels is measured for itself; before any, there is none", async () => {
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

test("without labels there is one that has measured nothing", async () => {
  const latency = new LatencyHistogram({ name: "oddwire_t_seconds", help: "T", labelNames: [] });
  assert.deepEqual(await latency.read(), [
    { labels: {}, count: 0, p50Ms: null, p95Ms: null, p99Ms: null },
  ]);
});
