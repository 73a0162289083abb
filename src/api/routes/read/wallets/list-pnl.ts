import { type Static, Type } from "typebox";
import { address } from "../../../../base/input/client-texts.ts";
import { PnlSeries } from "../../../../market/ledger/wallet-totals.ts";
import { readWallet } from "../../../../query/wallets/read-wallet.ts";
import { type PnlPoint, pnlRow, toPnlPoints, toPnlRows } from "../../../../rows/wallets/pnl-row.ts";
import { untilChange } from "../../../backend.ts";
import { checkRange } from "../../../http/parameters.ts";
import { bucketParameters } from "../../../lists/bucket-parameters.ts";
import { type ListParts, listRoute, memorySource, publicAs } from "../../../lists/row-list.ts";
import type { Route } from "../../../route/route.ts";
import { unknownWallet } from "./with-wallets.ts";

const bucketSeconds = { "1h": 3600, "1d": 86_400, "1w": 7 * 86_400 } as const;
const pageRows = 500;

const querystring = bucketParameters(bucketSeconds, pageRows);
type PnlParameters = Static<typeof querystring>;

/** Lists the profit of a wallet over time. */
export function listPnl(parts: ListParts): Route {
  const { directory } = parts.state;
  return listRoute(parts, {
    needsWallets: true,
    path: "/v1/wallets/{address}/pnl",
    summary: "List profit of a wallet",
    description:
      "Realized profit, fees, volume and trades of each bucket in which there were any, and their sums since the start. Weeks begin on Monday",
    params: Type.Object({ address }),
    querystring,
    pageRows,
    row: pnlRow,
    getCachePolicy: () => untilChange(parts),
    open: async ({ params, query, path }) => {
      checkRange(query, ["start", "end"]);
      const after = parts.cursors.decode(path, query);
      const series = new PnlSeries(bucketSeconds[query.resolution]);
      const wallet = await readWallet({ ...parts, directory }, params.address, series);
      if (wallet === null) throw unknownWallet();
      const points = select(toPnlPoints(series.finish()), query);
      const source = memorySource(points, {
        after,
        toPosition: ({ bucket }) => [bucket],
        isAfter: ({ bucket }, [edge]) =>
          query.order === "asc" ? bucket > Number(edge) : bucket < Number(edge),
      });
      return { ...source, writer: publicAs(toPnlRows(wallet.sums)) };
    },
  });
}

/** Returns the buckets that begin within the requested time, in the requested order. */
function select(points: readonly PnlPoint[], { start = 0, end, order }: PnlParameters) {
  const within = points.filter(
    ({ bucket }) => bucket * 1000 >= start && bucket * 1000 < (end ?? Infinity),
  );
  return order === "asc" ? within : within.toReversed();
}
