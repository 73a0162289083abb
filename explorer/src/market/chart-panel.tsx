import { useMemo } from "preact/hooks";
import type { Market } from "../../../clients/typescript/src/api.ts";
import {
  candlesQuery,
  type Resolution,
  ranges,
  resolutionsFor,
  secondsOfRange,
  usualRange,
} from "../charts/buckets.ts";
import { ChartView } from "../charts/chart-view.tsx";
import { invertBuckets } from "../charts/invert-candle.ts";
import { asOf, toLine, withSettlement } from "../charts/lines.ts";
import type { Drawing } from "../charts/price-chart.ts";
import { type Buckets, useBuckets, type Wanted } from "../charts/use-buckets.ts";
import { Panel } from "../parts/panel.tsx";
import { Notice, Shown } from "../parts/states.tsx";
import { Segments } from "../parts/tabs.tsx";
import { getChoice, parameters, setParameters } from "../routing/location.ts";
import { ledgerTokens } from "../service/ledgers.ts";
import { ReplayBar } from "./replay-bar.tsx";
import type { Replay } from "./use-replay.ts";

const forms = ["line", "candles"] as const;

/** The chance of the chosen outcome over time. The other outcome is its mirror image, so it is not drawn. */
export function ChartPanel(props: {
  readonly market: Market;
  readonly chosen: number;
  readonly replay: Replay;
}) {
  const { market, chosen, replay } = props;
  const requested = requestedOfAddress(market, replay.isOn);
  const [first] = ledgerTokens(market);
  const buckets = useBuckets([first ?? null], requested);
  const request = {
    title: "Candles",
    path: `/v1/candles/${market.tokens[chosen]?.token_id ?? ""}`,
    query: candlesQuery(buckets.data?.window, requested.endMs),
    isBulk: true,
  };
  if (first === undefined) return <Notice title="This market has no tokens yet" />;
  return (
    <Panel
      title="Chance over time"
      class="chart-panel"
      requests={[request]}
      tools={<ChartTools market={market} requested={requested} replay={replay} />}
    >
      <Shown of={buckets} what="chart" lines={8}>
        {(data) =>
          data.lines.flat().every(({ close }) => close === null) ? (
            <NoTrade market={market} />
          ) : (
            <Drawn
              market={market}
              chosen={chosen}
              requested={requested}
              data={data}
              replay={replay}
            />
          )
        }
      </Shown>
      {replay.isOn && <ReplayBar replay={replay} />}
    </Panel>
  );
}

function NoTrade({ market: { trades, status } }: { readonly market: Market }) {
  if (trades === 0 && status !== "open") return <Notice title="This market had no trades" />;
  return <Notice title="No trades in this time">The line begins with the first trade.</Notice>;
}

function Drawn(props: {
  readonly market: Market;
  readonly chosen: number;
  readonly requested: Wanted;
  readonly data: Buckets;
  readonly replay: Replay;
}) {
  const { market, chosen, requested, data, replay } = props;
  const { range, form } = requested;
  const { isOn, atMs, price, toMs } = replay;
  const drawing = useMemo((): Drawing => {
    const [all = []] = data.lines;
    const buckets = isOn ? asOf(all, { atMs, toMs, price }) : all;
    const line = form === "line" ? toLine(buckets) : buckets;
    const own = form === "line" && !isOn ? withSettlement(line, market) : line;
    const token = market.tokens[chosen];
    const series = {
      id: token?.token_id ?? "",
      name: token?.outcome ?? `Outcome ${chosen + 1}`,
      color: "series-1",
      buckets: chosen === 0 ? own : invertBuckets(own),
    };
    const view = `${range} ${form} ${data.window.resolution}`;
    return { form, series: [series], bars: own, view };
  }, [market.id, market.resolution, chosen, range, form, data, isOn, atMs, price, toMs]);
  return <ChartView drawing={drawing} />;
}

function requestedOfAddress(market: Market, isReplay: boolean): Wanted {
  const { created_at_ms: firstMs, resolved_at_ms: endMs, last_trade_at_ms: lastTradeMs } = market;
  const range = getChoice("range", [usualRange({ firstMs, endMs, lastTradeMs }), ...ranges]);
  const form = getChoice("chart", forms);
  const chosen = parameters.value.get("resolution") as Resolution | null;
  return isReplay
    ? { range: "All", form: "line", chosen: null, firstMs, endMs }
    : { range, form, chosen, firstMs, endMs };
}

function ChartTools(props: {
  readonly market: Market;
  readonly requested: Wanted;
  readonly replay: Replay;
}) {
  const { market, requested, replay } = props;
  if (replay.isOn) {
    return (
      <button type="button" aria-pressed={true} onClick={replay.stop}>
        Leave replay
      </button>
    );
  }
  return (
    <>
      <Segments
        label="Time shown"
        words={ranges}
        chosen={requested.range}
        onChoose={(range) => setParameters({ range, resolution: null })}
      />
      <Segments
        label="Form"
        words={forms}
        chosen={requested.form}
        getName={(form) => (form === "line" ? "Line" : "Candles")}
        onChoose={(chart) => setParameters({ chart: chart === "line" ? null : chart })}
      />
      {requested.form === "candles" && <CandleLength market={market} requested={requested} />}
      {market.trades > 0 && (
        <button type="button" onClick={replay.start} title="Play the life of this market again">
          ▶ Replay
        </button>
      )}
    </>
  );
}

function CandleLength({
  market,
  requested,
}: {
  readonly market: Market;
  readonly requested: Wanted;
}) {
  const lifeMs = (requested.endMs ?? Date.now()) - market.created_at_ms;
  const fitting = resolutionsFor(secondsOfRange(requested.range, lifeMs));
  return (
    <label class="inline">
      Candles of{" "}
      <select
        value={requested.chosen ?? ""}
        onChange={({ currentTarget }) => setParameters({ resolution: currentTarget.value })}
      >
        <option value="">auto</option>
        {fitting.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </label>
  );
}
