import type { ConditionId } from "../../base/ids.ts";
import { mapYielding } from "../../base/time/turns.ts";
import { getMarketRow } from "../../query/markets/market-rows.ts";
import { formatConditionId } from "../../rows/wire-format.ts";
import { type ChannelLog, type Entry, firstGroups, type Opening } from "../hub/channel.ts";

type Listed = { readonly seq: number; readonly conditionId: ConditionId };

/** Opens the `markets` channel: each condition when it becomes a market, with the fields known when it is sent. */
export function openMarkets({ request, sources: { state } }: Opening): ChannelLog {
  const { directory } = state;
  const requested = request.filter?.condition_id;
  const marketsAfter = (after: number): Listed[] =>
    directory.listedAfter(after).filter(({ conditionId }) => {
      return requested === undefined || conditionId === directory.getMarketId(requested);
    });
  const toEntry = ({ seq, conditionId }: Listed): Entry[] => {
    const market = directory.market(conditionId);
    const json = market === null ? null : JSON.stringify(getMarketRow(market, state));
    return json === null ? [] : [{ seq, json }];
  };
  return {
    event: "market",
    // No event announces some markets of generation 3. They begin with their first trade.
    interest: () => ({ tokenIds: "all", events: true }),
    read: async ({ order, after, limit }) => {
      const listed =
        order === "asc"
          ? firstGroups(marketsAfter(after ?? -1), limit)
          : marketsAfter(-1)
              .filter(({ seq }) => after === null || seq < after)
              .slice(-limit)
              .toReversed();
      return (await mapYielding(listed, toEntry)).flat();
    },
    revertedBy: (_removed, rewindTo) =>
      marketsAfter(rewindTo).map(({ conditionId }) => formatConditionId(conditionId)),
  };
}
