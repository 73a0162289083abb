import type { Market, Price, TokenId } from "../../../clients/typescript/src/api.ts";
import { getTone, percent, points } from "../format/numbers.ts";
import { setParameters } from "../routing/location.ts";
import { priceInRow } from "../service/ledgers.ts";

/** The outcomes with their chances. One of them is chosen. */
export function Outcomes(props: {
  readonly market: Market;
  readonly prices: ReadonlyMap<TokenId, Price>;
  readonly chosen: number;
}) {
  const { market, prices, chosen } = props;
  return (
    <div class="outcomes" role="group" aria-label="Outcomes">
      {market.tokens.map(({ token_id: id, outcome, winner }, at) => {
        const live = prices.get(id);
        const change = live?.stats_24h.change ?? null;
        return (
          <button
            type="button"
            key={id}
            class="outcome"
            aria-pressed={at === chosen}
            onClick={() => setParameters({ outcome: at === 0 ? null : String(at) })}
          >
            <span class="outcome-title">
              {outcome ?? `Outcome ${at + 1}`}
              {winner === true && <b class="won">won</b>}
            </span>
            <span class="chance num">{percent(live?.price ?? priceInRow(market, at))}</span>
            {market.status === "open" && change !== null && (
              <span class={`change num ${getTone(change)}`} title="Percentage points in 24 hours">
                {points(change)}
              </span>
            )}
          </button>
        );
      })}
    </div>
  );
}
