import assert from "node:assert/strict";
import { test } from "node:test";
import { formatMetricsPage } from "./metrics-page.ts";
import { readText } from "./project-files.ts";

test("the page of metrics is the one that `npm run docs` writes", () => {
  assert.equal(readText("docs/metrics.md"), formatMetricsPage());
});
