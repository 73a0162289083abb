import type { GetMetrics, GetReady } from "../../../clients/typescript/src/api.ts";
import { Sparkline } from "../charts/sparkline.tsx";
import { bytes, count, exact, measure, plural, unknown } from "../format/numbers.ts";
import { duration } from "../format/times.ts";
import { Facts, Panel } from "../parts/panel.tsx";
import { Notice, Shown, Skeleton } from "../parts/states.tsx";
import { type Column, scrolling, TableHead } from "../parts/table-head.tsx";
import { freshness, isCatchingUp, metrics } from "../service/session.ts";
import { useResource } from "../service/use-resource.ts";

type Metrics = GetMetrics["answer"];

/** Readiness counts toward the limit of the IP, which all tabs of an office share. */
const refreshMs = 15_000;

/** The state of the service, for its operators. */
export function StatusPage() {
  const ready = useResource("ready", async (using) => using.ready(), { everyMs: refreshMs });
  const now = metrics.value;
  return (
    <>
      <div class="page-head">
        <h1>Status</h1>
      </div>
      <Shown of={ready} what="status">
        {(data) => <Checks ready={data} />}
      </Shown>
      {now === null && freshness.value === null && <Skeleton lines={10} />}
      {now === null && freshness.value !== null && (
        <Notice title="Metrics need a key">
          Sign in to see them. The service can also open them with{" "}
          <code>ODDWIRE_PUBLIC_METRICS=1</code>.
        </Notice>
      )}
      {now !== null && (
        <>
          {now.indexer.backfill !== null && <Backfill backfill={now.indexer.backfill} />}
          <History now={now} />
          <div class="columns even">
            <ChainPanel metrics={now} />
            <ServicePanel metrics={now} />
          </div>
          <Endpoints metrics={now} />
          <Routes metrics={now} />
        </>
      )}
    </>
  );
}

function Checks({ ready }: { readonly ready: GetReady["answer"] }) {
  const isReady = ready.status === "ready";
  const failed = Object.values(ready.checks).filter(({ ok }) => !ok).length;
  const isWaiting = !isReady && isCatchingUp.value;
  const title = isWaiting ? "Catching up" : `Not ready: ${plural(failed, "check")} failed`;
  return (
    <Panel
      title={isReady ? "Ready" : title}
      class={isReady ? "good-panel" : isWaiting ? "waiting-panel" : "warning-panel"}
      requests={[{ title: "Readiness", path: "/v1/ready" }]}
    >
      <table aria-label="Readiness checks">
        <tbody>
          {Object.entries(ready.checks).map(([name, { ok, detail }]) => (
            <tr key={name}>
              <td class={`nowrap ${ok ? "up" : isWaiting ? "warn" : "down"}`}>
                {ok ? "✓ ok" : isWaiting ? "… not yet" : "✕ failed"}
              </td>
              <th scope="row">{name}</th>
              <td>{detail}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function Backfill(props: { readonly backfill: NonNullable<Metrics["indexer"]["backfill"]> }) {
  const { progress_ratio: progress, blocks_per_second: rate } = props.backfill;
  const { remaining_seconds: left } = props.backfill;
  const { from_block: from, to_block: to } = props.backfill;
  return (
    <Notice title={`Catching up: ${(progress * 100).toFixed(1)}%`}>
      <progress value={progress} max={1} aria-label="Backfill" />
      <p>
        Blocks {exact(from)} to {exact(to)}
        {left !== null && `, ${exact(rate)} blocks a second, ${duration(left)} left`}. Newer markets
        and trades appear as indexing catches up.
      </p>
    </Notice>
  );
}

type Reading = NonNullable<Metrics["history"]>[number];

const charts: readonly (readonly [title: string, name: keyof Reading, unit: string])[] = [
  ["Lag behind the head", "lag_seconds", " s"],
  ["Events a second", "events_per_second", "/s"],
  ["Stream connections", "stream_connections", ""],
  ["Memory (RSS)", "resident_memory_bytes", ""],
  ["Event loop delay, p99", "event_loop_lag_p99_ms", " ms"],
  ["Reads of the store, p99", "query_p99_ms", " ms"],
];

const historyRefreshMs = 60_000;

/** The last hour, which the service remembers, up to now. Grafana keeps a longer history. */
function History({ now }: { readonly now: Metrics }) {
  const { data } = useResource("history", async (using) => using.metrics({ include: "history" }), {
    everyMs: historyRefreshMs,
  });
  const readings = [...(data?.history ?? []), toReading(now)];
  return (
    <Panel title="Last hour" requests={[historyRequest]}>
      <dl class="history">
        {charts.map(([title, name, unit]) => {
          const values = readings.map((reading) => reading[name]);
          const newest = values.at(-1) ?? null;
          const text =
            name === "resident_memory_bytes" ? bytes(newest ?? 0) : `${measure(newest)}${unit}`;
          return (
            <div key={title}>
              <dt>{title}</dt>
              <dd>
                <b class="num">{text}</b>
                <Sparkline
                  values={values}
                  label={`${title}: ${text}`}
                  tone="dim"
                  width={160}
                  height={36}
                />
              </dd>
            </div>
          );
        })}
      </dl>
      <p class="dim">
        For longer history scrape <code>/v1/metrics/prometheus</code>; a Grafana dashboard comes
        with the service.
      </p>
    </Panel>
  );
}

const historyRequest = {
  title: "Metrics with the last hour",
  path: "/v1/metrics",
  query: { include: "history" },
};

function toReading({ indexer, stream, process, store }: Metrics): Reading {
  return {
    timestamp_ms: Date.now(),
    lag_seconds: indexer.lag_seconds,
    events_per_second: indexer.events_per_second,
    stream_connections: stream.connections,
    resident_memory_bytes: process.memory.resident_memory_bytes,
    event_loop_lag_p99_ms: process.event_loop_lag.p99_ms,
    query_p99_ms: store.queries.p99_ms,
  };
}

function ChainPanel({ metrics: { indexer } }: { readonly metrics: Metrics }) {
  const { coverage, audit } = indexer;
  const requests = [{ title: "Metrics", path: "/v1/metrics" }];
  return (
    <Panel title="Chain" requests={requests}>
      <Facts
        of={[
          ["Chain id", String(indexer.chain_id)],
          ["Head block", exact(indexer.head_block)],
          [
            "Indexed block",
            `${exact(indexer.indexed_block)} (${duration(indexer.lag_seconds)} lag)`,
          ],
          ["Finalized block", exact(indexer.finalized_block)],
          ["Unfinalized blocks", exact(indexer.unfinalized_blocks)],
          [
            "Stored blocks",
            coverage === null
              ? unknown
              : `${exact(coverage.from_block)} to ${exact(coverage.to_block)}`,
          ],
          ["Gaps", exact(indexer.gaps)],
          ["Audit", `${exact(audit.blocks)} blocks, ${exact(audit.mismatches)} mismatches`],
          [
            "Reorgs",
            `${exact(indexer.reorgs)}, deepest ${exact(indexer.deepest_reorg_blocks)} blocks`,
          ],
          ["Warnings", indexer.warnings.join(", ") || "none"],
        ]}
      />
    </Panel>
  );
}

function ServicePanel({ metrics: now }: { readonly metrics: Metrics }) {
  const { api, store, stream, books } = now;
  const stored = store.tables?.reduce((sum, table) => sum + table.bytes, 0) ?? null;
  const rows = store.tables?.reduce((sum, table) => sum + table.rows, 0) ?? null;
  return (
    <Panel title="Service">
      <Facts
        of={[
          ["Version", now.version],
          ["Uptime", duration(now.uptime_seconds)],
          ["Requests", count(api.requests)],
          ["Server errors (5xx)", exact(api.errors)],
          [
            "Stream",
            `${plural(stream.connections, "connection")}, ${count(stream.messages)} messages`,
          ],
          ["Slow stream clients closed", exact(stream.slow_closes)],
          ["Stored", stored === null ? unknown : `${bytes(stored)}, ${count(rows)} rows`],
          ["Inserts, p99", milliseconds(store.inserts.p99_ms)],
          [
            "Order books",
            books === null
              ? "no source"
              : `${exact(books.in_memory)} in memory, ${exact(books.stale)} stale`,
          ],
        ]}
      />
    </Panel>
  );
}

function Endpoints({ metrics: { indexer } }: { readonly metrics: Metrics }) {
  return (
    <Panel title="RPC endpoints">
      <Rows
        label="JSON-RPC endpoints"
        columns={[
          ["Host"],
          ["Circuit breaker", "right"],
          ["Calls", "right"],
          ["Errors", "right"],
          ["Rate limited", "right wide"],
          ["Invalid responses", "right wide"],
          ["Latency", "right"],
          ["Head", "right wide"],
        ]}
        rows={indexer.endpoints.map((one) => [
          one.host,
          one.breaker_state.replace("_", " "),
          count(one.calls),
          exact(one.errors),
          exact(one.rate_limited),
          exact(one.invalid_responses),
          milliseconds(one.latency_ms),
          exact(one.head_block),
        ])}
      />
    </Panel>
  );
}

function Routes({ metrics: { api } }: { readonly metrics: Metrics }) {
  return (
    <Panel title="Requests by route">
      <Rows
        label="API routes"
        columns={[
          ["Route"],
          ["Responses", "right"],
          ["4xx", "right wide"],
          ["5xx", "right"],
          ["p50", "right"],
          ["p99", "right"],
        ]}
        rows={api.routes
          .filter(({ route }) => route.startsWith("/v1/"))
          .map(({ method, route, statuses, ...one }) => [
            method === "GET" ? route : `${method} ${route}`,
            count(sumOver(statuses, "")),
            count(sumOver(statuses, "4")),
            count(sumOver(statuses, "5")),
            milliseconds(one.p50_ms),
            milliseconds(one.p99_ms),
          ])}
      />
    </Panel>
  );
}

/** Returns the number of responses whose status begins with a digit. */
function sumOver(statuses: Readonly<Record<string, number>>, digit: string): number {
  return Object.entries(statuses).reduce(
    (sum, [status, responses]) => sum + (status.startsWith(digit) ? responses : 0),
    0,
  );
}

function milliseconds(value: number | null): string {
  return value === null ? unknown : `${measure(value)} ms`;
}

function Rows(props: {
  readonly label: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
}) {
  return (
    <div {...scrolling(props.label)}>
      <table aria-label={props.label}>
        <TableHead columns={props.columns} />
        <tbody>
          {props.rows.map((cells) => (
            <tr key={cells[0]}>
              {cells.map((cell, at) => (
                <td key={at} class={`${props.columns[at]?.[1] ?? "id"} num`}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
