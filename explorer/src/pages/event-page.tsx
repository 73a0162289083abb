import { useEffect, useMemo } from "preact/hooks";
import type { Market, Event as MarketEvent } from "../../../client/src/api.ts";
import type { OddwireClient } from "../../../client/src/client.ts";
import { candlesQuery, type Range, ranges, sumVolumes, withSettlement } from "../charts/buckets.ts";
import { ChartView } from "../charts/chart-view.tsx";
import type { ChartSeries, Drawing } from "../charts/price-chart.ts";
import { type Buckets, useBuckets } from "../charts/use-buckets.ts";
import { count, dollars, percent } from "../format/numbers.ts";
import { endingOf } from "../format/times.ts";
import { byChance, chanceOf, labelOf, titleOf } from "../market-list/group-markets.ts";
import { MarketTable } from "../market-list/market-table.tsx";
import { useLivePrices } from "../market-list/use-live-prices.ts";
import { Figures, Panel } from "../parts/panel.tsx";
import { Shown, Skeleton } from "../parts/states.tsx";
import { Segments } from "../parts/tabs.tsx";
import { choiceOf, setParameters } from "../routing/location.ts";
import { nowMs } from "../service/clock.ts";
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
    ...membersOf(event),
    status: "all",
    include: "event",
    limit: marketsMax,
  } as const;
  return { event, markets: (await using.markets(query).page()).data };
}

/** The filter that finds the markets of an event. */
function membersOf({ id, neg_risk_market_id: negRisk }: MarketEvent) {
  return negRisk === null ? { event_id: [id] } : { neg_risk_market_id: [id] };
}

function EventView({ event, markets }: Known) {
  const title = event.title ?? titleOf(markets);
  const prices = useLivePrices(markets.flatMap(({ tokens }) => tokens[0]?.token_id ?? []));
  const sum = markets.reduce((total, market) => total + chanceOf(market, prices), 0);
  useEffect(() => {
    document.title = `${title} · Oddwire`;
  }, [title]);
  const requests = [
    { title: "Event", path: `/v1/events/${encodeURIComponent(event.id)}` },
    { title: "Markets", path: "/v1/markets", query: { ...membersOf(event), status: "all" } },
  ];
  return (
    <>
      <header class="market-head">
        <p class="crumbs">
          <a href="/">Markets</a>
          {event.category !== null && (
            <a href={`/?category=${encodeURIComponent(event.category)}`}>{event.category}</a>
          )}
        </p>
        <h1>{title}</h1>
        <Figures
          of={[
            ["24h volume", dollars(event.volume_24h_usd)],
            ["Volume", dollars(event.volume_usd)],
            ["Trades", count(event.trades)],
            ["Markets", String(event.market_count)],
            ...(event.neg_risk
              ? ([
                  ["Sum of prices", percent(sum), "What one share of every outcome costs"],
                ] as const)
              : []),
            endingOf(event.end_date, nowMs.value),
          ]}
        />
      </header>
      <EventChart markets={byChance(markets, prices)} all={markets} />
      <Panel title="Outcomes" requests={requests}>
        <MarketTable markets={markets} isSortable={false} isEvent={true} />
      </Panel>
    </>
  );
}

/** The leading outcomes as lines. Each line reads its own candles. */
function EventChart(props: {
  readonly markets: readonly Market[];
  readonly all: readonly Market[];
}) {
  const range = choiceOf("range", ["1D", ...ranges] as readonly Range[]);
  const shown = useSteady(props.markets.slice(0, linesMax));
  const lines = Array.from({ length: linesMax }, (_, at) => useLine(shown[at], range));
  const known = lines.slice(0, shown.length);
  const drawing = useMemo(() => drawingOf(known, shown, props.all), [shown, ...lines]);
  const requests = shown.map((market, at) => ({
    title: `Candles, ${labelOf(market, props.all)}`,
    path: `/v1/candles/${market.tokens[0]?.token_id ?? ""}`,
    query: candlesQuery(lines[at]?.window),
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
          chosen={range}
          onChoose={(one) => setParameters({ range: one === "1D" ? null : one })}
        />
      }
    >
      {drawing.series.length === 0 ? <Skeleton lines={8} /> : <ChartView drawing={drawing} />}
    </Panel>
  );
}

function drawingOf(
  lines: readonly (Buckets | null)[],
  markets: readonly Market[],
  all: readonly Market[],
): Drawing {
  const series = aligned(
    lines.flatMap((buckets, at): readonly ChartSeries[] => {
      const market = markets[at];
      if (buckets === null || market === undefined) return [];
      const own = withSettlement(buckets.buckets, market);
      return [
        { id: market.id, name: labelOf(market, all), color: `series-${at + 1}`, buckets: own },
      ];
    }),
  );
  const bars = sumVolumes(series.map(({ buckets }) => buckets));
  return { form: "line", series, bars, untilMs: null };
}

/** Returns the same list while the same markets are shown, so that lines keep their colors. */
function useSteady(markets: readonly Market[]): readonly Market[] {
  const ids = markets
    .map(({ id }) => id)
    .toSorted()
    .join();
  return useMemo(() => markets, [ids]);
}

function useLine(market: Market | undefined, range: Range): Buckets | null {
  const token = market?.tokens[0]?.token_id ?? null;
  const { data } = useBuckets(token, {
    range,
    form: "line",
    chosen: null,
    firstMs: market?.created_at_ms ?? 0,
    endMs: market?.resolved_at_ms ?? null,
  });
  return data;
}

/** Cuts all lines to the latest start and extends them to the latest end. */
function aligned(series: readonly ChartSeries[]): readonly ChartSeries[] {
  const fromMs = Math.max(...series.map(({ buckets }) => buckets[0]?.atMs ?? 0));
  const toMs = Math.max(...series.map(({ buckets }) => buckets.at(-1)?.atMs ?? 0));
  return series.map((one) => {
    const [first, second] = one.buckets;
    const last = one.buckets.at(-1);
    if (first === undefined || second === undefined || last === undefined) return one;
    const stepMs = second.atMs - first.atMs;
    const missing = Array.from({ length: Math.floor((toMs - last.atMs) / stepMs) }, (_, at) => {
      return { ...last, atMs: last.atMs + (at + 1) * stepMs, candle: null, volumeUsd: 0 };
    });
    const buckets = [...one.buckets.filter(({ atMs }) => atMs >= fromMs), ...missing];
    return { ...one, buckets };
  });
}
