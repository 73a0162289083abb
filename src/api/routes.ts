/** All endpoints of the service, in the order of the documentation. */

import type { AccessStore } from "../access/access-store.ts";
import type { Role } from "../base/config/config.ts";
import type { Log } from "../base/log.ts";
import type { Clock } from "../base/time/clock.ts";
import type { Checks } from "../feed/intake.ts";
import type { Backend } from "./backend.ts";
import { BulkAnswers } from "./bulk/bulk-answers.ts";
import { lakeRoutes } from "./lake/lake-routes.ts";
import { withFields } from "./lists/fields.ts";
import { withMinSeq } from "./lists/min-seq.ts";
import { ReadQueue } from "./lists/read-queue.ts";
import type { ListParts } from "./lists/row-list.ts";
import { withTokenNames } from "./lists/token-names.ts";
import { withWrongIds } from "./lists/wrong-ids.ts";
import type { Route } from "./route/route.ts";
import { listIpBlocks, unblockIp } from "./routes/admin/ip-block-routes.ts";
import { createKey, getKey, listKeys, revokeKey, rotateKey } from "./routes/admin/key-routes.ts";
import { getOrder } from "./routes/read/get-order.ts";
import { getOrderbook } from "./routes/read/get-orderbook.ts";
import { getPrice, listPrices } from "./routes/read/get-price.ts";
import { getTransaction } from "./routes/read/get-transaction.ts";
import { listCandles, listManyCandles } from "./routes/read/list-candles.ts";
import { getEvent, listEvents } from "./routes/read/list-events.ts";
import { listCancellations, listExchangeEvents } from "./routes/read/list-exchange-events.ts";
import { listFills, listMatches } from "./routes/read/list-fills.ts";
import { getMarket, listMarkets } from "./routes/read/list-markets.ts";
import { listResolutions, listResultSteps } from "./routes/read/list-resolutions.ts";
import { listStats } from "./routes/read/list-stats.ts";
import { listCategories, listTags } from "./routes/read/list-tags.ts";
import { listTokenTrades, listTrades } from "./routes/read/list-trades.ts";
import { getWallet } from "./routes/read/wallets/get-wallet.ts";
import { listActivity } from "./routes/read/wallets/list-activity.ts";
import { listHolders } from "./routes/read/wallets/list-holders.ts";
import {
  listOpenInterest,
  listTotalOpenInterest,
} from "./routes/read/wallets/list-open-interest.ts";
import { listPnl } from "./routes/read/wallets/list-pnl.ts";
import { listPositions } from "./routes/read/wallets/list-positions.ts";
import { withWallets } from "./routes/read/wallets/with-wallets.ts";
import { getMetrics, getPrometheus, type MetricsSource } from "./routes/service/get-metrics.ts";
import { getOpenapi } from "./routes/service/get-openapi.ts";
import { getHealth, getReady } from "./routes/service/probe-routes.ts";
import { openStream } from "./stream/stream-server.ts";

type RouteParts = {
  readonly backend: Backend;
  readonly access: AccessStore;
  readonly clock: Clock;
  readonly readChecks: () => Checks | Promise<Checks>;
  readonly role?: Role;
  readonly metrics: MetricsSource;
  readonly exportRowsMax: number;
  /** The folder of the lake; `null` without one. */
  readonly lakeDir: string | null;
  readonly log: Log;
};

/** Creates all routes. */
export function createRoutes(parts: RouteParts): readonly Route[] {
  const { backend, access, clock, role, readChecks, metrics } = parts;
  const { keys, ipBlocks, audit } = access;
  const { cursors } = backend;
  const { exportRowsMax: rowsMax, log } = parts;
  const bulk = new BulkAnswers({ rowsMax, cursors, keys, log });
  const lists = { ...backend, bulk, heavyReads: new ReadQueue() };
  const services = { keys, ipBlocks, audit, clock, cursors };
  const routes: Readonly<Record<string, Route>> = {
    ...Object.fromEntries(
      Object.entries(createReadRoutes(lists, clock)).map(([name, route]) => [
        name,
        withWallets(
          withFields(withTokenNames(withWrongIds(withMinSeq(route, backend), backend), backend)),
          backend,
        ),
      ]),
    ),
    openStream: openStream(),
    getHealth: getHealth(clock),
    getReady: getReady(readChecks, role),
    getMetrics: getMetrics(metrics),
    getPrometheus: getPrometheus(metrics),
    createKey: createKey(services),
    listKeys: listKeys(services),
    getKey: getKey(services),
    rotateKey: rotateKey(services),
    revokeKey: revokeKey(services),
    listIpBlocks: listIpBlocks(services),
    unblockIp: unblockIp(services),
    ...lakeRoutes(parts.lakeDir),
    // The document describes all routes, including its own.
    getOpenapi: getOpenapi(backend, { clock, readRoutes: () => routes }),
  };
  return Object.values(routes);
}

function createReadRoutes(lists: ListParts, clock: Clock): Readonly<Record<string, Route>> {
  return {
    listMarkets: listMarkets(lists, clock),
    getMarket: getMarket(lists),
    listResultSteps: listResultSteps(lists),
    listHolders: listHolders(lists),
    listOpenInterest: listOpenInterest(lists),
    listTotalOpenInterest: listTotalOpenInterest(lists),
    listEvents: listEvents(lists, clock),
    getEvent: getEvent(lists),
    listTags: listTags(lists, clock),
    listCategories: listCategories(lists, clock),
    listTrades: listTrades(lists),
    listTokenTrades: listTokenTrades(lists),
    listFills: listFills(lists),
    listMatches: listMatches(lists),
    listCancellations: listCancellations(lists),
    listExchangeEvents: listExchangeEvents(lists),
    listResolutions: listResolutions(lists),
    getOrder: getOrder(lists),
    getTransaction: getTransaction(lists),
    getWallet: getWallet(lists),
    listPositions: listPositions(lists),
    listActivity: listActivity(lists),
    listPnl: listPnl(lists),
    getPrice: getPrice(lists),
    listPrices: listPrices(lists),
    listCandles: listCandles(lists),
    listStats: listStats(lists),
    listManyCandles: listManyCandles(lists),
    getOrderbook: getOrderbook(lists),
  };
}
