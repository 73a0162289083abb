import { useMemo } from "preact/hooks";
import type { Market, Price } from "../../../clients/typescript/src/api.ts";
import { Sparkline } from "../charts/sparkline.tsx";
import {
  byChance,
  getName,
  groupMarkets,
  type MarketGroup,
  type Prices,
  toLabel,
} from "../format/group-markets.ts";
import { count, dollars, getTone, plural, points } from "../format/numbers.ts";
import { ago, dateAndTime, timeTooltip, toMilliseconds, until } from "../format/times.ts";
import { MarketImage } from "../parts/market-image.tsx";
import { Probability } from "../parts/probability.tsx";
import { Pending } from "../parts/states.tsx";
import { paths } from "../routing/paths.ts";
import { nowMs } from "../service/clock.ts";
import { ledgerTokens, priceInRow } from "../service/ledgers.ts";
import { hasBooks } from "../service/session.ts";
import {
  type SortName,
  shownTime,
  shownVolume,
  sortBy,
  sortedBy,
  timeSorts,
  titleOfSort,
} from "./sorts.ts";
import { useLivePrices } from "./use-live-prices.ts";
import { useNearScreen } from "./use-near-screen.ts";
import { useSparklines } from "./use-sparklines.ts";

const outcomesShown = 4;

/** What rows show besides their markets. */
type RowValues = { readonly prices: Prices; readonly lines: ReturnType<typeof useSparklines> };

/** A table of markets. Markets of an event are grouped, and values are updated live. */
export function MarketTable(props: {
  readonly markets: readonly Market[];
  readonly isSortable: boolean;
  /** Whether this is the page of an event, and all markets belong to it. */
  readonly isEvent?: boolean;
}) {
  const chunks = useMemo(
    () => (props.isEvent === true ? [] : toChunks(groupMarkets(props.markets))),
    [props.markets, props.isEvent],
  );
  const prices = useLivePrices(props.markets.flatMap((market) => ledgerTokens(market).slice(0, 1)));
  const values = { prices, lines: useSparklines(props.markets) };
  return (
    <table class="markets" aria-label="Markets">
      <thead>
        <tr>
          <th scope="col">Market</th>
          <th scope="col" class="line wide">
            24 hours
          </th>
          <th scope="col" class="chance">
            Chance
          </th>
          <SortHeader name="change_24h" isSortable={props.isSortable} />
          <SortHeader name={shownVolume.value} isSortable={props.isSortable} />
          {hasBooks.value && (
            <SortHeader name="liquidity" isSortable={props.isSortable} class="wide" />
          )}
          <SortHeader name={shownTime.value} isSortable={props.isSortable} />
          <SortHeader name="trades_24h" isSortable={props.isSortable} class="trades" />
        </tr>
      </thead>
      {props.isEvent === true && (
        <tbody>
          {byChance(props.markets, prices).map((market) => (
            <MarketRow
              key={market.id}
              market={market}
              values={values}
              label={toLabel(market, props.markets)}
            />
          ))}
        </tbody>
      )}
      {chunks.map((groups, at) => (
        <Chunk key={at} at={at} groups={groups} values={values} />
      ))}
    </table>
  );
}

/** The number of groups in a chunk. Far from the screen a chunk is only empty space. */
const chunkGroups = 20;
const groupHeight = 49;

function toChunks(groups: readonly MarketGroup[]): readonly (readonly MarketGroup[])[] {
  const count = Math.ceil(groups.length / chunkGroups);
  return Array.from({ length: count }, (_, at) =>
    groups.slice(at * chunkGroups, (at + 1) * chunkGroups),
  );
}

function Chunk(props: {
  readonly at: number;
  readonly groups: readonly MarketGroup[];
  readonly values: RowValues;
}) {
  const { at, groups, values } = props;
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
            <MarketRow market={group.markets[0]} values={values} label={null} />
          </tbody>
        ) : (
          <EventRows key={group.id} group={group} values={values} chunk={at} />
        ),
      )}
    </>
  );
}

function SortHeader(props: {
  readonly name: SortName;
  readonly isSortable: boolean;
  readonly class?: string;
}) {
  const { name, isSortable } = props;
  const classes = `right ${props.class ?? ""}`;
  if (!isSortable) {
    return (
      <th scope="col" class={classes}>
        {titleOfSort(name)}
      </th>
    );
  }
  const sorted = sortedBy(name);
  return (
    <th scope="col" class={classes} aria-sort={sorted}>
      <button type="button" class="sort" onClick={() => sortBy(name)}>
        {titleOfSort(name)}
        <span aria-hidden="true">{{ ascending: " ↑", descending: " ↓", none: " ↕" }[sorted]}</span>
      </button>
      {name === shownTime.value && <TimeChoice />}
    </th>
  );
}

/** Chooses the time of the last column, and sorts by it. */
function TimeChoice() {
  return (
    <select
      class="sort-field"
      aria-label="Time shown"
      value={shownTime.value}
      onChange={({ currentTarget }) => {
        const chosen = timeSorts.find((one) => one === currentTarget.value);
        if (chosen !== undefined) sortBy(chosen);
      }}
    >
      {timeSorts.map((one) => (
        <option key={one} value={one}>
          {titleOfSort(one)}
        </option>
      ))}
    </select>
  );
}

/** The row of an event, and one row for each of its leading outcomes. */
function EventRows(props: {
  readonly group: MarketGroup;
  readonly values: RowValues;
  readonly chunk: number;
}) {
  const { group, values, chunk } = props;
  const { id, title, markets } = group;
  const leading = byChance(markets, values.prices).slice(0, outcomesShown);
  const volume = markets.reduce((sum, market) => sum + getVolume(market), 0);
  const trades = markets.reduce((sum, market) => sum + market.trades_24h, 0);
  return (
    <tbody class="event" data-chunk={chunk}>
      <tr class="event-head">
        <td class="name">
          <MarketImage url={markets[0]?.image ?? null} />
          <a href={paths.event(id)} data-row>
            {title}
          </a>
          <span class="sub">
            {markets[0]?.category ?? "Event"} · {markets.length} outcomes
          </span>
        </td>
        <td class="line wide" />
        <td />
        <td />
        <td class="right num" data-name={titleOfSort(shownVolume.value)}>
          {dollars(volume)}
        </td>
        {hasBooks.value && <td class="wide" />}
        <TimeCell markets={markets} />
        <td class="right num trades">{count(trades)}</td>
      </tr>
      {leading.map((market) => (
        <MarketRow
          key={market.id}
          market={market}
          values={values}
          label={toLabel(market, markets)}
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
  readonly values: RowValues;
  readonly label: string | null;
}) {
  const { market, values, label } = props;
  const line = values.lines.get(market.id);
  const [token] = market.tokens;
  const live = values.prices.get(token?.token_id ?? "");
  const price = live?.price ?? priceInRow(market, 0);
  const change = live?.stats_24h.change ?? market.change_24h;
  const trades = live?.stats_24h.trades ?? market.trades_24h;
  const name = token?.outcome ?? "Outcome 1";
  return (
    <tr class={label === null ? "" : "outcome-row"} data-market={market.id}>
      <td class="name">
        {label === null && <MarketImage url={market.image} />}
        <a href={paths.market(market.id)} title={getName(market)} data-row>
          {label ?? getName(market)}
        </a>
        {label === null && <span class="sub">{toSubtitle(market)}</span>}
      </td>
      <td class="line wide">
        {line === undefined ? (
          <Pending />
        ) : (
          <Sparkline
            values={line}
            tone={getTone(change)}
            label={trades === 0 ? "No trades in 24 hours" : `${name} over 24 hours`}
          />
        )}
      </td>
      <td class="chance" data-name="Chance">
        <Probability value={price} name={name} />
      </td>
      <td
        class={`right num change ${getTone(change)}`}
        data-name="24h change"
        title="Percentage points in 24 hours"
      >
        {points(change)}
      </td>
      <td class="right num" data-name={titleOfSort(shownVolume.value)}>
        {dollars(getVolume(market, live))}
      </td>
      {hasBooks.value && <td class="right num wide">{dollars(market.liquidity_usd)}</td>}
      <TimeCell markets={[market]} />
      <td class="right num trades">{count(trades)}</td>
    </tr>
  );
}

/** Returns the volume that the list shows. Only that of 24 hours is live. */
function getVolume(market: Market, live?: Price): number {
  if (shownVolume.value === "volume") return Number(market.volume_usd);
  return Number(live?.stats_24h.volume_usd ?? market.volume_24h_usd);
}

/** The time that the list shows, of a market or of an event. */
function TimeCell({ markets }: { readonly markets: readonly Market[] }) {
  const name = shownTime.value;
  const atMs = getTime(name, markets);
  const isResolved = markets.every(({ status }) => status === "resolved");
  const ending = isResolved ? "resolved" : until(atMs, nowMs.value);
  return (
    <td
      class="right num ends"
      data-name={name === "end_date" && isResolved ? "Status" : titleOfSort(name)}
      title={atMs === null ? undefined : timeTooltip(atMs)}
    >
      {name === "end_date" ? ending : ago(atMs, nowMs.value)}
    </td>
  );
}

function getTime(
  name: "end_date" | "created_at" | "last_trade_at",
  markets: readonly Market[],
): number | null {
  switch (name) {
    case "end_date":
      return toMilliseconds(markets[0]?.end_date ?? null);
    case "created_at":
      return Math.min(...markets.map(({ created_at_ms: atMs }) => atMs));
    case "last_trade_at":
      return Math.max(...markets.map(({ last_trade_at_ms: atMs }) => atMs ?? 0)) || null;
  }
}

function toSubtitle(market: Market): string {
  const { category, tokens, status, resolution, resolved_at_ms: resolvedMs, mirror } = market;
  const names = tokens.flatMap(({ outcome }) => outcome ?? []);
  const isPlain = names.length < 2 || (names.length === 2 && names[0] === "Yes");
  const won = resolution?.winning_outcome ?? null;
  return [
    category ?? "Market",
    ...(isPlain ? [] : [names.join(" or ")]),
    ...(mirror === null ? [] : ["Protocol V2"]),
    ...(status === "resolved" ? [won === null ? "resolved" : `${won} won`] : []),
    ...(resolvedMs === null ? [] : [dateAndTime(resolvedMs)]),
  ].join(" · ");
}
