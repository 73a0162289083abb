import { useMemo } from "preact/hooks";
import type { Market } from "../../../client/src/api.ts";
import { Sparkline } from "../charts/sparkline.tsx";
import { count, dollars, plural, points, toneOf } from "../format/numbers.ts";
import { fullTime, millisecondsOf, until } from "../format/times.ts";
import { Probability } from "../parts/probability.tsx";
import { useOnScreen } from "../parts/use-on-screen.ts";
import { paths } from "../routing/paths.ts";
import { nowMs } from "../service/clock.ts";
import { hasListedBooks } from "../service/session.ts";
import {
  byChance,
  groupMarkets,
  labelOf,
  type MarketGroup,
  nameOf,
  type Prices,
} from "./group-markets.ts";
import { type SortName, sortBy, sortedBy } from "./sorts.ts";
import { useLivePrices } from "./use-live-prices.ts";
import { useNearScreen } from "./use-near-screen.ts";
import { useRowExtras } from "./use-row-extras.ts";

const outcomesShown = 4;

/** A table of markets. Markets of an event are grouped, and values are updated live. */
export function MarketTable(props: {
  readonly markets: readonly Market[];
  readonly isSortable: boolean;
  /** Whether this is the page of an event, and all markets belong to it. */
  readonly isEvent?: boolean;
}) {
  const chunks = useMemo(
    () => (props.isEvent === true ? [] : chunksOf(groupMarkets(props.markets))),
    [props.markets, props.isEvent],
  );
  const prices = useLivePrices(props.markets.flatMap(({ tokens }) => tokens[0]?.token_id ?? []));
  return (
    <table class="markets" aria-label="Markets">
      <thead>
        <tr>
          <th scope="col">Market</th>
          <th scope="col" class="wide">
            24 hours
          </th>
          <th scope="col">Chance</th>
          <th scope="col" class="right">
            24h change
          </th>
          <SortHeader name="volume_24h" title="24h volume" isSortable={props.isSortable} />
          {hasListedBooks.value && (
            <th scope="col" class="right wide">
              Liquidity
            </th>
          )}
          <SortHeader name="end_date" title="Ends in" isSortable={props.isSortable} />
          <SortHeader name="trades_24h" title="24h trades" isSortable={props.isSortable} />
        </tr>
      </thead>
      {props.isEvent === true && (
        <tbody>
          {byChance(props.markets, prices).map((market) => (
            <MarketRow
              key={market.id}
              market={market}
              prices={prices}
              label={labelOf(market, props.markets)}
            />
          ))}
        </tbody>
      )}
      {chunks.map((groups, at) => (
        <Chunk key={at} at={at} groups={groups} prices={prices} />
      ))}
    </table>
  );
}

/** The number of groups in a chunk. Far from the screen a chunk is only empty space. */
const chunkGroups = 20;
const groupHeight = 64;

function chunksOf(groups: readonly MarketGroup[]): readonly (readonly MarketGroup[])[] {
  const count = Math.ceil(groups.length / chunkGroups);
  return Array.from({ length: count }, (_, at) =>
    groups.slice(at * chunkGroups, (at + 1) * chunkGroups),
  );
}

function Chunk(props: {
  readonly at: number;
  readonly groups: readonly MarketGroup[];
  readonly prices: Prices;
}) {
  const { at, groups, prices } = props;
  const { isNear, height } = useNearScreen(`table.markets > tbody[data-chunk="${at}"]`, groups, {
    isNear: at === 0,
    height: groups.length * groupHeight,
  });
  if (!isNear) {
    return (
      <tbody data-chunk={at} aria-hidden="true">
        <tr style={{ height: `${height}px` }} />
      </tbody>
    );
  }
  return (
    <>
      {groups.map((group) =>
        group.markets.length === 1 && group.markets[0] !== undefined ? (
          <tbody key={group.id} data-chunk={at}>
            <MarketRow market={group.markets[0]} prices={prices} label={null} />
          </tbody>
        ) : (
          <EventRows key={group.id} group={group} prices={prices} chunk={at} />
        ),
      )}
    </>
  );
}

function SortHeader(props: {
  readonly name: SortName;
  readonly title: string;
  readonly isSortable: boolean;
}) {
  const { name, title, isSortable } = props;
  if (!isSortable) {
    return (
      <th scope="col" class="right">
        {title}
      </th>
    );
  }
  const sorted = sortedBy(name);
  return (
    <th scope="col" class="right" aria-sort={sorted}>
      <button type="button" class="sort" onClick={() => sortBy(name)}>
        {title}
        <span aria-hidden="true">{{ ascending: " ↑", descending: " ↓", none: "" }[sorted]}</span>
      </button>
    </th>
  );
}

/** The row of an event, and one row for each of its leading outcomes. */
function EventRows(props: {
  readonly group: MarketGroup;
  readonly prices: Prices;
  readonly chunk: number;
}) {
  const { group, prices, chunk } = props;
  const { id, title, markets } = group;
  const leading = byChance(markets, prices).slice(0, outcomesShown);
  const volume = markets.reduce((sum, market) => sum + Number(market.volume_24h_usd), 0);
  const trades = markets.reduce((sum, market) => sum + market.trades_24h, 0);
  const endMs = millisecondsOf(markets[0]?.end_date ?? null);
  return (
    <tbody class="event" data-chunk={chunk}>
      <tr class="event-head">
        <td class="name">
          <a href={paths.event(id)} data-row>
            {title}
          </a>
          <span class="sub">
            {markets[0]?.category ?? "Event"} · {markets.length} outcomes
          </span>
        </td>
        <td class="wide" />
        <td />
        <td />
        <td class="right num">{dollars(volume)}</td>
        {hasListedBooks.value && <td class="wide" />}
        <td class="right num">{until(endMs, nowMs.value)}</td>
        <td class="right num">{count(trades)}</td>
      </tr>
      {leading.map((market) => (
        <MarketRow
          key={market.id}
          market={market}
          prices={prices}
          label={labelOf(market, markets)}
        />
      ))}
      {markets.length > outcomesShown && (
        <tr class="outcome-row">
          <td class="name rest">
            <a href={paths.event(id)}>{plural(markets.length - outcomesShown, "more outcome")}</a>
          </td>
        </tr>
      )}
    </tbody>
  );
}

/** The row of a market. `label` is its name within an event. */
function MarketRow(props: {
  readonly market: Market;
  readonly prices: Prices;
  readonly label: string | null;
}) {
  const { market, prices, label } = props;
  const [token] = market.tokens;
  const live = prices.get(token?.token_id ?? "");
  const price = live?.price ?? token?.price ?? null;
  const [row, isSeen] = useOnScreen<HTMLTableRowElement>();
  const { line, liquidity } = useRowExtras(isSeen ? market : null);
  const change = live?.stats_24h.change ?? null;
  const trades = live?.stats_24h.trades ?? market.trades_24h;
  const endMs = millisecondsOf(market.end_date);
  const name = token?.outcome ?? "Outcome 1";
  return (
    <tr ref={row} class={label === null ? "" : "outcome-row"} data-market={market.id}>
      <td class="name">
        <a href={paths.market(market.id)} data-row>
          {label ?? nameOf(market)}
        </a>
        {label === null && <span class="sub">{subtitleOf(market)}</span>}
      </td>
      <td class="wide">
        <Sparkline
          values={line}
          tone={toneOf(change)}
          label={trades === 0 ? "No trades in 24 hours" : `${name} over 24 hours`}
        />
      </td>
      <td>
        <Probability value={price} name={name} />
      </td>
      <td class={`right num ${toneOf(change)}`} title="Points of probability in 24 hours">
        {points(change)}
      </td>
      <td class="right num">{dollars(live?.stats_24h.volume_usd ?? market.volume_24h_usd)}</td>
      {hasListedBooks.value && <td class="right num wide">{dollars(liquidity)}</td>}
      <td class="right num" title={endMs === null ? "" : fullTime(endMs)}>
        {market.status === "resolved" ? "resolved" : until(endMs, nowMs.value)}
      </td>
      <td class="right num">{count(trades)}</td>
    </tr>
  );
}

function subtitleOf({ category, tokens, status, resolution }: Market): string {
  const names = tokens.flatMap(({ outcome }) => outcome ?? []);
  const isPlain = names.length < 2 || (names.length === 2 && names[0] === "Yes");
  const won = resolution?.winning_outcome ?? null;
  return [
    category ?? "Market",
    ...(isPlain ? [] : [names.join(" or ")]),
    ...(status === "resolved" ? [won === null ? "resolved" : `${won} won`] : []),
  ].join(" · ");
}
