/** The listeners of a role. */
import type { AccessStore } from "../access/access-store.ts";
import { Admission } from "../access/admission.ts";
import { referenceRoutes } from "../api/docs/reference-routes.ts";
import { explorerRoutes } from "../api/explorer/explorer-routes.ts";
import { guideRoutes } from "../api/guide/guide-routes.ts";
import { HttpServer } from "../api/http/server.ts";
import type { Observation } from "../api/metrics/request-meter.ts";
import type { MeasuredParts, MetricsParts } from "../api/metrics/service-metrics.ts";
import { Cursors } from "../api/route/cursor.ts";
import {
  getMetrics,
  getPrometheus,
  type MetricsSource,
  scrapeMetrics,
} from "../api/routes/service/get-metrics.ts";
import { getHealth, getReady } from "../api/routes/service/probe-routes.ts";
import { createRoutes } from "../api/routes.ts";
import { StreamServer } from "../api/stream/stream-server.ts";
import { closeOnError } from "../base/close-on-error.ts";
import type { Config } from "../base/config/config.ts";
import { systemClock } from "../base/time/clock.ts";
import type { Checks } from "../feed/intake.ts";
import { describeId } from "../query/markets/describe-id.ts";
import type { Hub } from "../stream/hub/hub.ts";
import type { StreamQuotas } from "../stream/session/session.ts";
import { openMetrics, type RoleStart, readIntakeChecks } from "./open-parts.ts";

/** Serves REST, the stream, the explorer and the guide. Returns the URL. */
export async function serveEverything(
  start: RoleStart,
  served: {
    readonly access: AccessStore;
    readonly hub: Hub;
    readonly parts: MeasuredParts;
    readonly readCluster?: MetricsParts["readCluster"];
  },
): Promise<string> {
  const { config, log, life } = start;
  const { access, hub, parts } = served;
  const metrics = openMetrics(start, access, served.readCluster);
  metrics.measure(parts);
  const { facts, state, books, intake } = parts;
  const cursors = new Cursors(access.keys.deriveSecret("cursors"), () => facts.newestSeq);
  const freshness = () => intake.freshness();
  const read = { freshness, describeId: (id: string) => describeId(state.directory, id) };
  const routes = createRoutes({
    backend: { facts, state, cursors, freshness, books },
    access,
    metrics,
    readChecks: async () => {
      const { refusal, clockDetail } = access;
      const checks = await readIntakeChecks(parts, metrics);
      if (clockDetail !== null) {
        // Without harm: expiry follows the shared clock.
        const detail = `${clockDetail}, ${intake.blockClock.detail}`;
        checks["clock"] = { ok: true, detail };
      }
      return refusal === null ? checks : { ...checks, keys: { ok: false, detail: refusal } };
    },
    role: start.role,
    clock: systemClock,
    exportRowsMax: config.exportRowsMax,
    lakeDir: config.lakeDir,
    log,
  });
  const edge = getEdge(start, access);
  const limits = { hub, keys: access.keys, quotas: getQuotas(config) };
  const stream = StreamServer.open({ ...edge, ...limits, freshness, meter: metrics.stream });
  // The timers of the stream server would keep a process alive that cannot listen.
  return closeOnError(stream, async () => {
    const explorer = explorerRoutes(config.venueImages);
    const all = [...routes, ...referenceRoutes(), ...guideRoutes(), ...explorer.routes];
    const observe = (observation: Observation) => metrics.requests.observe(observation);
    const served = { routes: all, observe, stream, unknownPage: explorer.page, ...read };
    const url = await listen(start, { access, metrics, ...edge, ...served });
    life.use(stream);
    return url;
  });
}

/** Serves health, readiness and metrics only. Returns the URL. */
export async function serveOperations(
  start: RoleStart,
  { access, metrics }: { readonly access: AccessStore; readonly metrics: MetricsSource },
  readChecks: () => Promise<Checks>,
): Promise<string> {
  const routes = [
    getHealth(systemClock),
    getReady(readChecks, start.role),
    getMetrics(metrics),
    getPrometheus(metrics),
  ];
  return listen(start, { access, metrics, ...getEdge(start, access), routes });
}

/** Serves routes, and metrics for scrapers on a separate port if one is set. Returns the URL of the routes. */
async function listen(
  start: RoleStart,
  served: Omit<Parameters<typeof HttpServer.open>[0], "port"> & {
    readonly access: AccessStore;
    readonly metrics: MetricsSource;
  },
): Promise<string> {
  const { config, log, life } = start;
  const { metrics, access, ...parts } = served;
  const http = life.use(await HttpServer.open({ ...parts, port: config.port }));
  if (config.metricsPort === null) return http.url;
  const routes = [scrapeMetrics(metrics)];
  // A separate admission, so that connections of scrapers are counted separately.
  const edge = getEdge(start, access);
  const scraped = life.use(await HttpServer.open({ ...edge, port: config.metricsPort, routes }));
  log.info({ url: scraped.url, path: "/metrics" }, "metrics listener started");
  return http.url;
}

function getEdge({ config, log }: RoleStart, access: AccessStore) {
  const { host, corsOrigins, trustedProxies, connectionsPerIp, keepAliveSeconds } = config;
  const { authFailuresMax: failuresMax, rateLimitIp: requestsPerIp } = config;
  const limits = { failuresMax, trustedProxies, connectionsPerIp, requestsPerIp };
  const isPublic = {
    isPublicRead: config.publicRead === 1,
    isPublicMetrics: config.publicMetrics === 1,
  };
  const admission = new Admission({ access, clock: systemClock, ...limits, ...isPublic });
  return { host, corsOrigins, keepAliveSeconds, admission, clock: systemClock, log };
}

function getQuotas(config: Config): StreamQuotas {
  const { streamConnectionsRead: read, streamConnectionsWrite: write } = config;
  return {
    connectionsPerKey: { read, write, admin: config.streamConnectionsAdmin },
    connectionsPerIp: config.streamConnectionsIp,
    subscriptionsMax: config.streamSubscriptions,
  };
}
