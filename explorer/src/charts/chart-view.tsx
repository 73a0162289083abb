import { useEffect, useRef, useState } from "preact/hooks";
import { isDark } from "../app/theme.ts";
import { cents, dollars, percent } from "../format/numbers.ts";
import { fullTime, timeZone, zoneAt } from "../format/times.ts";
import { type Drawing, PriceChart } from "./price-chart.ts";

/** The chart and its legend, which shows the values under the pointer or the newest ones. */
export function ChartView({ drawing }: { readonly drawing: Drawing }) {
  const element = useRef<HTMLDivElement>(null);
  const chart = useRef<PriceChart | null>(null);
  const [hoveredMs, setHovered] = useState<number | null>(null);
  useEffect(() => {
    if (element.current === null) return;
    const opened = PriceChart.open(element.current, setHovered);
    chart.current = opened;
    return () => {
      chart.current = null;
      opened.close();
    };
  }, []);
  useEffect(() => chart.current?.draw(drawing), [drawing]);
  useEffect(() => chart.current?.recolor(), [isDark.value]);
  return (
    <figure class="chart">
      <Legend drawing={drawing} hoveredMs={hoveredMs} />
      <div class="canvas" ref={element} role="img" aria-label={describe(drawing)} />
      <figcaption class="dim">Times in {zoneText()}</figcaption>
    </figure>
  );
}

function Legend(props: { readonly drawing: Drawing; readonly hoveredMs: number | null }) {
  const { drawing, hoveredMs } = props;
  // The pointer may be right of the moment that a replay has reached.
  const atMs = Math.min(hoveredMs ?? Infinity, drawing.untilMs ?? Infinity);
  const [first] = drawing.series;
  const bucketOf = (series: Drawing["series"][number]) =>
    series.buckets.findLast((bucket) => bucket.atMs <= atMs);
  const shown = first === undefined ? undefined : bucketOf(first);
  const bar = drawing.bars.findLast((one) => one.atMs <= atMs);
  // The prices of one candle among several lines would be of an outcome that is not named.
  const isHovered = hoveredMs !== null && drawing.series.length === 1;
  const candle = isHovered ? (shown?.candle ?? null) : null;
  return (
    <div class="legend num" aria-hidden="true">
      {drawing.form === "line"
        ? drawing.series.map((series) => (
            <span key={series.id}>
              <i class={series.color} />
              {series.name} <b>{percent(bucketOf(series)?.close)}</b>
            </span>
          ))
        : first !== undefined && (
            <span>
              {first.name} <b>{percent(shown?.close)}</b>
            </span>
          )}
      {candle !== null && (
        <span>
          O {cents(candle.open)} H {cents(candle.high)} L {cents(candle.low)} C{" "}
          {cents(candle.close)}
        </span>
      )}
      {hoveredMs !== null && bar !== undefined && (
        <span class="dim">
          {dollars(bar.volumeUsd)} traded · {fullTime(bar.atMs)}
        </span>
      )}
    </div>
  );
}

/** Describes the chart in a sentence, for screen readers. */
function describe({ series }: Drawing): string {
  const parts = series.map(({ name, buckets }) => {
    const closes = buckets.flatMap(({ close }) => close ?? []);
    const [first] = closes;
    if (first === undefined) return `${name}: no trades`;
    const [low, high] = [Math.min(...closes), Math.max(...closes)];
    return `${name} from ${percent(first)} to ${percent(closes.at(-1))}, between ${percent(low)} and ${percent(high)}`;
  });
  return `Chance over time. ${parts.join("; ")}`;
}

function zoneText(): string {
  const short = zoneAt(Date.now());
  return short === timeZone ? short : `${timeZone.replaceAll("_", " ")} (${short})`;
}
