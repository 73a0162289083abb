import assert from "node:assert/strict";
import { test } from "node:test";
import { formatMetricsPage } from "./metrics-page.ts";
import { readText } from "./project-files.ts";

test("the metrics page equals the output of `npm run docs`", () => {
  assert.equal(readText("docs/metrics.md"), formatMetricsPage());
});
