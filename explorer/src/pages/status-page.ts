import type { GetMetrics, GetReady } from "../../../client/src/api.ts";
import { fill, h, notice, panel, terms } from "../dom.ts";
import { bytes, count, duration, exact } from "../format.ts";
import { type Page, repeat, wordsOf } from "../page.ts";

type Metrics = GetMetrics["answer"];

const everyMs = 2000;

/** How the service is doing: lag, finality, coverage, gaps, throughput, nodes. */
export const statusPage: Page = (context) => {
  const content = h("div", {}, h("p", { class: "dim" }, "Loading…"));
  void repeat(everyMs, context, async () => {
    try {
      const [ready, metrics] = await Promise.all([
        context.client.ready(),
        context.client.metrics(),
      ]);
      fill(content, ...draw(ready, metrics));
    } catch (thrown) {
      fill(content, notice(wordsOf(thrown)));
    }
  });
  return h("div", {}, h("h1", {}, "Status"), content);
};

function draw({ status, checks }: GetReady["answer"], metrics: Metrics): HTMLElement[] {
  return [
    panel(status === "ready" ? "Ready" : "Not ready", checkTable(checks)),
    h("div", { class: "columns half" }, chainPanel(metrics), servicePanel(metrics)),
    panel("Nodes", endpointTable(metrics)),
    panel("Endpoints of this service", routeTable(metrics)),
  ];
}

function checkTable(checks: GetReady["answer"]["checks"]): HTMLElement {
  const rows = Object.entries(checks).map(([name, { ok, detail }]) =>
    h(
      "tr",
      {},
      h("td", { class: ok ? "up" : "down" }, ok ? "ok" : "not ok"),
      h("td", {}, name),
      h("td", {}, detail),
    ),
  );
  return h("table", {}, h("tbody", {}, ...rows));
}

function chainPanel({ indexer }: Metrics): HTMLElement {
  const { coverage, backfill } = indexer;
  const blocks = indexer.unfinalized_blocks;
  return panel(
    "Chain",
    terms([
      ["Chain id", String(indexer.chain_id)],
      ["Head", exact(indexer.head_block)],
      ["Indexed", `${exact(indexer.indexed_block)}, ${duration(indexer.lag_seconds)} behind`],
      ["Finalized", `${exact(indexer.finalized_block)}, ${blocks} blocks wait for it`],
      ["Coverage", coverage && `${exact(coverage.from_block)} to ${exact(coverage.to_block)}`],
      ["Gaps", exact(indexer.gaps)],
      ["Warnings", indexer.warnings.join(", ") || "none"],
      ["Events", `${exact(indexer.events_per_second)} a second`],
      ["Trades", `${count(indexer.trades)} since the start`],
      ["Reorganisations", `${indexer.reorgs}, the deepest ${indexer.deepest_reorg_blocks} blocks`],
      ["Catching up", backfill === null ? "done" : backfillText(backfill)],
    ]),
  );
}

function backfillText(backfill: NonNullable<Metrics["indexer"]["backfill"]>): string {
  const { progress, blocks_per_second: rate, seconds_left: left } = backfill;
  const done = `${(progress * 100).toFixed(1)} %`;
  return `${done}, ${exact(rate)} blocks a second, ${duration(left)} left`;
}

function servicePanel({ version, uptime_seconds: uptime, ...metrics }: Metrics): HTMLElement {
  const { api, store, process } = metrics;
  const rows = store.tables?.map(({ table, rows }) => `${count(rows)} ${table}`).join(", ");
  const stored = store.tables?.reduce((sum, table) => sum + table.bytes, 0) ?? 0;
  return panel(
    "Service",
    terms([
      ["Version", version],
      ["Up for", duration(uptime)],
      ["Requests", `${exact(api.requests)}, ${api.errors} errors of our own`],
      ["Stored", `${bytes(stored)}: ${rows ?? ""}`],
      ["Memory", bytes(process.memory.resident_bytes)],
      ["Event loop", `${process.event_loop_lag.p99_ms} ms late (p99)`],
    ]),
  );
}

function endpointTable({ indexer }: Metrics): HTMLElement {
  const names = ["Host", "Breaker", "Calls", "Errors", "Contradictions", "Latency", "Head"];
  const rows = indexer.endpoints.map((endpoint) => [
    endpoint.host,
    endpoint.breaker.replace("_", " "),
    exact(endpoint.calls),
    exact(endpoint.errors + endpoint.rate_limited),
    exact(endpoint.bad_answers),
    endpoint.latency_ms === null ? "–" : `${exact(endpoint.latency_ms)} ms`,
    exact(endpoint.head_block),
  ]);
  return table(names, rows);
}

function routeTable({ api }: Metrics): HTMLElement {
  const names = ["Route", "Answers", "p50", "p99"];
  const rows = api.routes.map(({ method, route, statuses, p50_ms: half, p99_ms: most }) => [
    `${method} ${route}`,
    Object.entries(statuses)
      .map(([status, answers]) => `${answers} × ${status}`)
      .join(", "),
    half === null ? "–" : `${exact(half)} ms`,
    most === null ? "–" : `${exact(most)} ms`,
  ]);
  return table(names, rows);
}

function table(names: readonly string[], rows: readonly (readonly string[])[]): HTMLElement {
  const head = h("tr", {}, ...names.map((name) => h("th", {}, name)));
  const body = rows.map((cells) => h("tr", {}, ...cells.map((cell) => h("td", {}, cell))));
  const element = h("table", {}, h("thead", {}, head), h("tbody", {}, ...body));
  return h("div", { class: "scroll" }, element);
}
