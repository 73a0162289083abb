import type { GetMetrics, GetReady } from "../../../clients/typescript/src/api.ts";
import { Sparkline } from "../charts/sparkline.tsx";
import { bytes, count, exact, plural, unknown } from "../format/numbers.ts";
import { duration, fullTime } from "../format/times.ts";
import { Facts, Panel } from "../parts/panel.tsx";
import { Notice, Pending, Shown, Skeleton } from "../parts/states.tsx";
import { scrolling, TableHead } from "../parts/table-head.tsx";
import { freshness, isCatchingUp, metrics, type Reading, readings } from "../service/session.ts";
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
          <History readings={readings.value} />
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
  const {
    progress_ratio: progress,
    blocks_per_second: rate,
    remaining_seconds: left,
  } = props.backfill;
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

const charts = [
  {
    title: "Lag behind the head",
    of: ({ indexer }: Metrics) => indexer.lag_seconds ?? 0,
    unit: "s",
  },
  {
    title: "Events a second",
    of: ({ indexer }: Metrics) => indexer.events_per_second ?? 0,
    unit: "/s",
  },
  { title: "Stream connections", of: ({ stream }: Metrics) => stream.connections, unit: "" },
  {
    title: "Memory (RSS)",
    of: ({ process }: Metrics) => process.memory.resident_memory_bytes / 1e6,
    unit: " MB",
  },
  {
    title: "Event loop delay, p99",
    of: ({ process }: Metrics) => process.event_loop_lag.p99_ms,
    unit: " ms",
  },
  {
    title: "Reads of the store, p99",
    of: ({ store }: Metrics) => store.queries.p99_ms ?? 0,
    unit: " ms",
  },
] as const;

/** The readings since the page was opened. Grafana keeps a longer history. */
function History({ readings: seen }: { readonly readings: readonly Reading[] }) {
  const [first] = seen;
  return (
    <Panel title={first === undefined ? "History" : `Since ${fullTime(first.atMs)}`}>
      <dl class="history">
        {charts.map(({ title, of, unit }) => {
          const values = seen.map((reading) => of(reading.metrics));
          const text =
            unit === "s" ? duration(values.at(-1) ?? null) : `${exact(values.at(-1))}${unit}`;
          return (
            <div key={title}>
              <dt>{title}</dt>
              <dd>
                <b class="num">{text}</b>
                {values.length > 1 ? (
                  <Sparkline
                    values={values}
                    label={`${title}: ${text}`}
                    tone="dim"
                    width={160}
                    height={36}
                  />
                ) : (
                  <Pending />
                )}
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
          [
            "Inserts, p99",
            store.inserts.p99_ms === null ? unknown : `${exact(store.inserts.p99_ms)} ms`,
          ],
          [
            "Order books",
            books === null
              ? "no source"
              : `${exact(books.in_memory)} in memory, ${exact(books.stale)} stale`,
          ],
          ["Memory (RSS)", bytes(now.process.memory.resident_memory_bytes)],
        ]}
      />
    </Panel>
  );
}

function Endpoints({ metrics: { indexer } }: { readonly metrics: Metrics }) {
  return (
    <Panel title="Nodes of the chain">
      <Rows
        label="JSON-RPC endpoints"
        names={[
          "Host",
          "Circuit breaker",
          "Calls",
          "Errors",
          "Rate limited",
          "Bad answers",
          "Latency",
          "Head",
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
        names={["Route", "Responses by status", "p50", "p95", "p99"]}
        rows={api.routes
          .filter(({ route }) => route.startsWith("/v1/"))
          .map((one) => [
            `${one.method} ${one.route}`,
            Object.entries(one.statuses)
              .map(([status, answers]) => `${status}: ${count(answers)}`)
              .join(", "),
            milliseconds(one.p50_ms),
            milliseconds(one.p95_ms),
            milliseconds(one.p99_ms),
          ])}
      />
    </Panel>
  );
}

function milliseconds(value: number | null): string {
  return value === null ? unknown : `${exact(value)} ms`;
}

function Rows(props: {
  readonly label: string;
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
}) {
  return (
    <div {...scrolling(props.label)}>
      <table aria-label={props.label}>
        <TableHead columns={props.names.map((name, at) => [name, at > 1 ? "right" : ""])} />
        <tbody>
          {props.rows.map((cells) => (
            <tr key={cells[0]}>
              {cells.map((cell, at) => (
                <td key={at} class={at > 1 ? "right num nowrap" : ""}>
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
