import { useEffect, useMemo } from "preact/hooks";
import type { Market, Event as MarketEvent } from "../../../clients/typescript/src/api.ts";
import type { OddwireClient } from "../../../clients/typescript/src/client.ts";
import { candlesQuery, ranges, usualRange } from "../charts/buckets.ts";
import { ChartView } from "../charts/chart-view.tsx";
import { sumVolumes, toLine, withSettlement } from "../charts/lines.ts";
import type { Drawing } from "../charts/price-chart.ts";
import { type Buckets, useBuckets, type Wanted } from "../charts/use-buckets.ts";
import { showControls } from "../format/controls.ts";
import { byChance, getChance, toLabel, toTitle } from "../format/group-markets.ts";
import { count, dollars, exact, exactDollars, percent } from "../format/numbers.ts";
import { describeEnding } from "../format/times.ts";
import { MarketTable } from "../market-list/market-table.tsx";
import { useLivePrices } from "../market-list/use-live-prices.ts";
import { Figures, Panel } from "../parts/panel.tsx";
import { Shown } from "../parts/states.tsx";
import { Segments } from "../parts/tabs.tsx";
import { getChoice, setParameters } from "../routing/location.ts";
import { paths } from "../routing/paths.ts";
import { nowMs } from "../service/clock.ts";
import { ledgerTokens } from "../service/ledgers.ts";
import { useResource } from "../service/use-resource.ts";

const marketsMax = 100;
const linesMax = 6;
const refreshMs = 20_000;

/** All outcomes of an event: on one chart, as a list, and the sum of their prices. */
export function EventPage({ id }: { readonly id: string }) {
  const event = useResource(`event ${id}`, async (using) => readEvent(using, id), {
    everyMs: refreshMs,
  });
  return (
    <>
      {event.data === null && <h1 class="loading">Event</h1>}
      <Shown of={event} what="event" lines={10}>
        {(known) => <EventView {...known} />}
      </Shown>
    </>
  );
}

type Known = { readonly event: MarketEvent; readonly markets: readonly Market[] };

async function readEvent(using: OddwireClient, id: string): Promise<Known> {
  const event = await using.event(id);
  const query = {
    event_id: [event.id],
    status: "all",
    include: "event",
    limit: marketsMax,
  } as const;
  return { event, markets: (await using.markets(query).page()).data };
}

function EventView({ event, markets }: Known) {
  const title = event.title ?? toTitle(markets);
  const prices = useLivePrices(markets.flatMap((market) => ledgerTokens(market).slice(0, 1)));
  const sum = markets.reduce((total, market) => total + getChance(market, prices), 0);
  useEffect(() => {
    document.title = showControls(`${title} · Oddwire`);
  }, [title]);
  const requests = [
    { title: "Event", path: `/v1/events/${encodeURIComponent(event.id)}` },
    { title: "Markets", path: "/v1/markets", query: { event_id: [event.id], status: "all" } },
  ];
  return (
    <>
      <header class="market-head">
        <p class="crumbs">
          <a href={paths.markets}>Markets</a>
          {event.category !== null && <a href={paths.category(event.category)}>{event.category}</a>}
        </p>
        <h1>{title}</h1>
        <Figures
          of={[
            ["24h volume", dollars(event.volume_24h_usd)],
            ["Volume", dollars(event.volume_usd), exactDollars(event.volume_usd)],
            ["Trades", count(event.trades), exact(event.trades)],
            ["Markets", String(event.market_count)],
            describeEnding(event.end_date, nowMs.value),
          ]}
        />
      </header>
      <EventChart event={event} markets={markets} />
      <Panel title="Outcomes" requests={requests}>
        <MarketTable markets={markets} isSortable={false} isEvent={true} />
        {event.neg_risk && (
          <p class="dim" title="What one share of every outcome costs">
            Sum of prices <span class="num">{percent(sum)}</span>
          </p>
        )}
      </Panel>
    </>
  );
}

/** The leading outcomes as lines, the same ones while the page is open. */
function EventChart({ event, markets }: Known) {
  const ids = useMemo(() => getLeading(markets), [markets.map(({ id }) => id).join()]);
  const drawn = ids.flatMap((id) => markets.find((market) => market.id === id) ?? []);
  const requested = requestedOfAddress(event, markets);
  const tokens = Array.from({ length: linesMax }, (_, at) =>
    drawn[at] === undefined ? null : (ledgerTokens(drawn[at])[0] ?? null),
  );
  const buckets = useBuckets(tokens, requested);
  const { data } = buckets;
  const drawing = useMemo(
    () => data && getDrawing(data, { drawn, markets, range: requested.range }),
    [data, ids, markets],
  );
  const requests = drawn.map((market) => ({
    title: `Candles, ${toLabel(market, markets)}`,
    path: `/v1/candles/${market.tokens[0]?.token_id ?? ""}`,
    query: candlesQuery(data?.window, requested.endMs),
    isBulk: true,
  }));
  return (
    <Panel
      title="Chance over time"
      class="chart-panel"
      requests={requests}
      tools={
        <Segments
          label="Time shown"
          words={ranges}
          chosen={requested.range}
          onChoose={(range) => setParameters({ range })}
        />
      }
    >
      <Shown of={{ ...buckets, data: drawing }} what="chart" lines={8}>
        {(known) => <ChartView drawing={known} />}
      </Shown>
    </Panel>
  );
}

function getLeading(markets: readonly Market[]): readonly string[] {
  const traded = markets.filter(({ tokens }) => tokens.length > 0);
  return byChance(traded, new Map())
    .slice(0, linesMax)
    .map(({ id }) => id);
}

function requestedOfAddress(event: MarketEvent, markets: readonly Market[]): Wanted {
  const { created_at_ms: firstMs, last_trade_at_ms: lastTradeMs } = event;
  const ends = markets.flatMap(({ resolved_at_ms: endMs }) => endMs ?? []);
  const endMs = ends.length < markets.length ? null : Math.max(...ends);
  const range = getChoice("range", [usualRange({ firstMs, endMs, lastTradeMs }), ...ranges]);
  return { range, form: "line", chosen: null, firstMs, endMs };
}

function getDrawing(
  { window, lines }: Buckets,
  of: {
    readonly drawn: readonly Market[];
    readonly markets: readonly Market[];
    readonly range: string;
  },
): Drawing {
  const { drawn, markets, range } = of;
  const own = lines.map(toLine);
  const series = drawn.map((market, at) => ({
    id: market.id,
    name: toLabel(market, markets),
    color: `series-${at + 1}`,
    buckets: withSettlement(own[at] ?? [], market),
  }));
  return { form: "line", series, bars: sumVolumes(own), view: `${range} ${window.resolution}` };
}
