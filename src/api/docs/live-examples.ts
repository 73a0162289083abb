/** Values of parameters that exist on this service, so that requests sent from the API reference find something. */
import { formatTokenId } from "../../base/ids.ts";
import { getEventKey } from "../../market/market.ts";
import { readFills } from "../../query/read-fills.ts";
import type { Backend } from "../backend.ts";

/** Values by parameter. A key that begins with a path is for an endpoint at which the name has another meaning. */
export type LiveExamples = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The number of newest trades among which an open market and an event are looked for. */
const tradesMax = 200;

/** Reads values of the newest trades and their markets; none while there are no trades. */
export async function readLiveExamples({ facts, state }: Backend): Promise<LiveExamples> {
  const fills = await readFills(facts, {
    filter: { roles: ["maker", "direct"] },
    order: "desc",
    after: null,
    finalizedOnly: false,
    limit: tradesMax,
  });
  const { directory } = state;
  const trades = fills.map((fill) => {
    const conditionId = directory.getSlot(fill.tokenId)?.conditionId;
    return { fill, market: conditionId === undefined ? null : directory.market(conditionId) };
  });
  const newest = trades.find(({ market }) => market?.resolution === null) ?? trades[0];
  if (newest === undefined) return {};
  const { txHash, orderHash, maker } = newest.fill;
  const tokenId = formatTokenId(newest.fill.tokenId);
  const events = trades.flatMap(({ market }) => (market && getEventKey(market)) ?? []);
  return {
    token_id: tokenId,
    token_ids: [tokenId],
    tx_hash: txHash,
    order_hash: orderHash,
    address: maker,
    "/v1/markets/{id} id": newest.market?.conditionId,
    "/v1/events/{id} id": events[0],
  };
}
