/** Every endpoint of the service, in the order of the documentation. */
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Checks } from "../indexer.ts";
import type { AccessStore } from "../store/access-store.ts";
import type { Backend } from "./backend.ts";
import { BulkAnswers } from "./bulk/bulk-answers.ts";
import { documentRoutes } from "./docs/document-routes.ts";
import type { Route } from "./route.ts";
import { createKey } from "./routes/create-key.ts";
import { getHealth } from "./routes/get-health.ts";
import { getKey } from "./routes/get-key.ts";
import { getMarket } from "./routes/get-market.ts";
import { getMetrics, getPrometheus, type MetricsSource } from "./routes/get-metrics.ts";
import { getOrder } from "./routes/get-order.ts";
import { getOrderbook } from "./routes/get-orderbook.ts";
import { getPrice, listPrices } from "./routes/get-price.ts";
import { getReady } from "./routes/get-ready.ts";
import { liftIpBlock } from "./routes/lift-ip-block.ts";
import { listCandles } from "./routes/list-candles.ts";
import { listCancellations, listExchangeEvents } from "./routes/list-exchange-events.ts";
import { listFills, listMatches } from "./routes/list-fills.ts";
import { listIpBlocks } from "./routes/list-ip-blocks.ts";
import { listKeys } from "./routes/list-keys.ts";
import { listMarkets } from "./routes/list-markets.ts";
import { listResolutions } from "./routes/list-resolutions.ts";
import { listTokenTrades, listTrades } from "./routes/list-trades.ts";
import { openStream } from "./routes/open-stream.ts";
import { revokeKey } from "./routes/revoke-key.ts";
import { rotateKey } from "./routes/rotate-key.ts";

/** Takes the parts they work with. */
export function createRoutes(parts: {
  readonly backend: Backend;
  readonly access: AccessStore;
  readonly clock: Clock;
  readonly version: string;
  readonly readChecks: () => Checks | Promise<Checks>;
  readonly metrics: MetricsSource;
  /** The row cap of files. */
  readonly exportRowsMax: number;
  readonly log: Log;
}): readonly Route[] {
  const { backend, access, clock, version, readChecks, metrics } = parts;
  const { keys, ipBlocks, audit } = access;
  const bulk = new BulkAnswers({ rowsMax: parts.exportRowsMax, keys, log: parts.log });
  const lists = { backend, bulk };
  const { cursors, freshness } = backend;
  const services = { keys, ipBlocks, audit, clock, cursors, freshness };
  const routes = [
    listMarkets(backend, clock),
    getMarket(backend),
    listTrades(lists),
    listTokenTrades(lists),
    listFills(lists),
    listMatches(lists),
    listCancellations(lists),
    listExchangeEvents(lists),
    listResolutions(lists),
    getOrder(backend),
    getPrice(backend),
    listPrices(backend),
    listCandles(backend, bulk),
    getOrderbook(backend),
    openStream(),
    getHealth({ version, clock }),
    getReady(readChecks),
    getMetrics(metrics),
    getPrometheus(metrics),
    createKey(services),
    listKeys(services),
    getKey(services),
    rotateKey(services),
    revokeKey(services),
    listIpBlocks(services),
    liftIpBlock(services),
  ];
  return documentRoutes(routes, version);
}
