import type { Market } from "../../../clients/typescript/src/api.ts";
import { type MarketGroup, toLabel } from "../format/group-markets.ts";
import { dollars, percent } from "../format/numbers.ts";
import { dateAndTime, toMilliseconds } from "../format/times.ts";
import { paths } from "../routing/paths.ts";
import { priceInRow } from "./ledgers.ts";

/** A result: something that has a page. */
export type Found = {
  readonly kind: "market" | "event" | "wallet" | "transaction" | "order";
  readonly path: string;
  readonly title: string;
  /** What distinguishes it from results with the same title. */
  readonly about: string;
  /** Its price or result. */
  readonly detail: string;
  /** Whether it is an outcome of the event above it. */
  readonly isOutcome?: boolean;
};

const outcomesMax = 4;

/** Returns the results of groups of markets: an event comes before those of its outcomes that match best. */
export function foundGroups(groups: readonly MarketGroup[]): readonly Found[] {
  return groups.flatMap(({ id, title, markets }): readonly Found[] => {
    const [first] = markets;
    if (first === undefined) return [];
    if (markets.length === 1) return [foundMarket(first, title)];
    const about = [...getEnd(first), `${markets.length} matching outcomes`];
    return [
      { kind: "event", path: paths.event(id), title, about: about.join(" · "), detail: "" },
      ...markets.slice(0, outcomesMax).map((market) => ({
        ...foundMarket(market, toLabel(market, markets)),
        about: getTraded(market),
        isOutcome: true,
      })),
    ];
  });
}

/** Returns the result of one market. */
export function foundMarket(market: Market, title: string): Found {
  const { id, status, resolution, tokens } = market;
  const [first] = tokens;
  const winner = resolution?.winning_outcome ?? null;
  return {
    kind: "market",
    path: paths.market(id),
    title,
    about: [...getEnd(market), getTraded(market)].join(" · "),
    detail:
      status === "open"
        ? `${first?.outcome ?? ""} ${percent(priceInRow(market, 0))}`.trim()
        : winner === null
          ? "resolved"
          : `${winner} won`,
  };
}

function getTraded({ volume_usd: volume }: Market): string {
  return `${dollars(volume)} traded`;
}

/** When a market was resolved or ends; nothing if that is not known. */
function getEnd({ resolved_at_ms: resolvedMs, end_date: end }: Market): readonly string[] {
  if (resolvedMs !== null) return [`resolved ${dateAndTime(resolvedMs)}`];
  const endMs = toMilliseconds(end);
  return endMs === null ? [] : [`ends ${dateAndTime(endMs)}`];
}
