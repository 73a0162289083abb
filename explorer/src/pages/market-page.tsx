import { useEffect } from "preact/hooks";
import type { Market, Price, TokenId } from "../../../clients/typescript/src/api.ts";
import { showControls } from "../format/controls.ts";
import { getEventId, getName } from "../format/group-markets.ts";
import { cents, count, dollars, exact, exactDollars, plural } from "../format/numbers.ts";
import { ago, describeEnding, timeTooltip } from "../format/times.ts";
import { BookPanel } from "../market/book-panel.tsx";
import { ChartPanel } from "../market/chart-panel.tsx";
import { HoldersPanel } from "../market/holders-panel.tsx";
import { InfoPanel } from "../market/info-panel.tsx";
import { OpenInterestPanel } from "../market/open-interest-panel.tsx";
import { Outcomes } from "../market/outcomes.tsx";
import { ResolutionBanner } from "../market/resolution-banner.tsx";
import { type Replay, useReplay } from "../market/use-replay.ts";
import { useLivePrices } from "../market-list/use-live-prices.ts";
import { Figures, Panel } from "../parts/panel.tsx";
import { Shown } from "../parts/states.tsx";
import { Segments } from "../parts/tabs.tsx";
import { Time } from "../parts/time.tsx";
import { getChoice, parameters, setParameters } from "../routing/location.ts";
import { paths } from "../routing/paths.ts";
import { nowMs } from "../service/clock.ts";
import { bothLedgers, ledgerTokens } from "../service/ledgers.ts";
import { useResource } from "../service/use-resource.ts";
import { LiveTape } from "../tape/live-tape.tsx";
import { TradeTable } from "../tape/trade-table.tsx";

const refreshMs = 15_000;
const tabs = ["Chart", "Book", "Trades", "Holders", "Info"] as const;
const sizes = ["", "10", "100", "1000"] as const;

/** One market: its chance, book, trades, rules and result, live or as a replay. */
export function MarketPage({ id }: { readonly id: string }) {
  const market = useResource(`market ${id}`, async (using) => using.market(id), {
    everyMs: refreshMs,
  });
  useEffect(() => {
    if (market.data !== null) document.title = showControls(`${getName(market.data)} · Oddwire`);
  }, [market.data?.question]);
  return (
    <>
      {market.data === null && <h1 class="loading">Market</h1>}
      <Shown of={market} what="market" lines={10}>
        {(data) => <MarketView market={data} />}
      </Shown>
    </>
  );
}

function MarketView({ market }: { readonly market: Market }) {
  const replay = useReplay(market);
  const tokens = ledgerTokens(market);
  const prices = useLivePrices(tokens);
  const requested = Number(parameters.value.get("outcome") ?? 0);
  const chosen = tokens[requested] === undefined ? 0 : requested;
  const tab = getChoice("tab", tabs);
  const token = tokens[chosen];
  return (
    <article class="market" data-tab={tab}>
      <MarketHead market={market} prices={prices} chosen={chosen} />
      <ResolutionBanner market={market} />
      <Segments
        class="tabs"
        label="Part of the page"
        words={tabs}
        chosen={tab}
        onChoose={(next) => setParameters({ tab: next === "Chart" ? null : next })}
      />
      <div class="columns">
        <div class="main-column">
          <div class="pane" data-pane="Chart">
            <ChartPanel market={market} chosen={chosen} replay={replay} />
          </div>
          <div class="pane" data-pane="Trades">
            <TradesPanel market={market} replay={replay} />
          </div>
        </div>
        <div class="side-column">
          {market.status === "open" && token !== undefined && (
            <div class="pane" data-pane="Book">
              <Panel
                title={`Order book, ${market.tokens[chosen]?.outcome ?? "outcome"}`}
                requests={[{ title: "Order book", path: `/v1/orderbook/${token.activeId}` }]}
              >
                <BookPanel tokenId={token.activeId} />
              </Panel>
            </div>
          )}
          {market.status !== "open" && (
            <div class="pane phone-only" data-pane="Book">
              <p class="dim">The market is resolved. Its book is closed.</p>
            </div>
          )}
          <div class="pane" data-pane="Holders">
            <OpenInterestPanel market={market} />
            <HoldersPanel
              marketId={market.id}
              chosen={chosen}
              outcome={market.tokens[chosen]?.outcome ?? null}
            />
          </div>
          <div class="pane" data-pane="Info">
            <InfoPanel market={market} />
          </div>
        </div>
      </div>
    </article>
  );
}

function MarketHead(props: {
  readonly market: Market;
  readonly prices: ReadonlyMap<TokenId, Price>;
  readonly chosen: number;
}) {
  const { market, prices, chosen } = props;
  const price = prices.get(market.tokens[0]?.token_id ?? "");
  const { category, status, end_date: end, last_trade_at_ms: lastMs, mirror } = market;
  const eventId = getEventId(market);
  const { open_interest_usd: interest } = market;
  const stats = price?.stats_24h;
  // The day is live, the total is read at intervals.
  const volume = Math.max(Number(market.volume_usd), Number(stats?.volume_usd ?? 0));
  return (
    <header class="market-head">
      <p class="crumbs">
        <a href={paths.markets}>Markets</a>
        {category !== null && <a href={paths.category(category)}>{category}</a>}
        {eventId !== null && <EventLink id={eventId} />}
      </p>
      <h1>{getName(market)}</h1>
      {mirror !== null && (
        <p class="moved">
          <span class="badge">
            Moved to Protocol V2 · <Time at={mirror.created_at_ms} form="date" />
          </span>
        </p>
      )}
      <div class="market-top">
        <Outcomes market={market} prices={prices} chosen={chosen} />
        <Figures
          of={[
            ["24h volume", dollars(stats?.volume_usd ?? market.volume_24h_usd)],
            ["Volume", dollars(volume), exactDollars(volume)],
            ...(interest === null
              ? []
              : ([["Open interest", dollars(interest), exactDollars(interest)]] as const)),
            ["Trades", count(market.trades), exact(market.trades)],
            ...(status === "open"
              ? ([
                  ["Spread", cents(price?.spread), "Between the best bid and the best ask"],
                  describeEnding(end, nowMs.value),
                ] as const)
              : []),
            ["Last trade", ago(lastMs, nowMs.value), lastMs === null ? "" : timeTooltip(lastMs)],
          ]}
        />
      </div>
    </header>
  );
}

/** A link to the event of a market; nothing if the event has no other market. */
function EventLink({ id }: { readonly id: string }) {
  const { data } = useResource(`title of event ${id}`, async (using) => using.event(id));
  if (data === null || data.market_count === 1) return null;
  return <a href={paths.event(id)}>{data.title}</a>;
}

const atLeast = (size: string): string => `≥ ${dollars(size)}`;

function TradesPanel({ market, replay }: { readonly market: Market; readonly replay: Replay }) {
  const minValue = getChoice("min_value", sizes);
  const isClosed = market.status !== "open";
  const tokenIds = bothLedgers(ledgerTokens(market));
  const request = {
    title: "Trades",
    path: "/v1/trades",
    query: { token_id: tokenIds.join(), min_value: minValue, limit: 100 },
    isBulk: true,
  };
  if (replay.isOn) {
    const tape = {
      trades: replay.trades,
      fresh: new Set<TokenId>(),
      reverted: new Set<string>(),
      finalizedSeq: Number.MAX_SAFE_INTEGER,
    };
    return (
      <Panel title={`Trades, replayed: ${plural(replay.tradeCount, "trade")}`}>
        <div aria-busy={replay.isReading}>
          <TradeTable tape={tape} label="Replayed trades" hasMarket={false} />
        </div>
      </Panel>
    );
  }
  const filter = minValue === "" ? {} : { filter: { min_value: minValue } };
  return (
    <Panel
      title="Trades"
      requests={[request]}
      tools={
        <Segments
          label="Least value"
          words={sizes}
          chosen={minValue}
          getName={(size) => (size === "" ? "All" : atLeast(size))}
          onChoose={(size) => setParameters({ min_value: size })}
        />
      }
    >
      <LiveTape
        channel={{ type: "token_trades", token_ids: tokenIds, ...filter }}
        hasMarket={false}
        isClosed={isClosed}
        label="Trades of this market, newest first"
        emptyText={`No trades${minValue === "" ? "" : ` ${atLeast(minValue)}`}${isClosed ? "" : " yet"}`}
      />
    </Panel>
  );
}
