import { useEffect, useRef, useState } from "preact/hooks";
import { isDark } from "../app/theme.ts";
import { cents, dollars, percent } from "../format/numbers.ts";
import { timeRange, zoneText } from "../format/times.ts";
import type { Bucket } from "./buckets.ts";
import { timeIn, type VolumeBar } from "./lines.ts";
import { type ChartSeries, type Drawing, PriceChart } from "./price-chart.ts";

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
  const point = (to: Point | null): void => {
    chart.current?.point(to);
    setHovered(to?.atMs ?? null);
  };
  const points = toPoints(drawing);
  const at = points.findLastIndex(({ atMs }) => atMs <= (hoveredMs ?? Infinity));
  return (
    <figure class="chart">
      <Legend drawing={drawing} hoveredMs={hoveredMs} />
      <div class="plot">
        <div
          class="canvas"
          ref={element}
          role="slider"
          tabIndex={0}
          aria-label={describe(drawing)}
          aria-valuemin={0}
          aria-valuemax={Math.max(0, points.length - 1)}
          aria-valuenow={Math.max(0, at)}
          aria-valuetext={describeAt(drawing, hoveredMs)}
          onKeyDown={(event) => {
            const next = pointAfterKey(event.key, points, at);
            if (next === undefined) return;
            event.preventDefault();
            point(next);
          }}
          onBlur={() => point(null)}
        />
        {hoveredMs !== null && <Details drawing={drawing} atMs={hoveredMs} />}
      </div>
      <figcaption class="dim">Times in {zoneText()}</figcaption>
    </figure>
  );
}

type Point = { readonly atMs: number; readonly price: number };

/** Returns the points of the first series. */
function toPoints({ series: [first], form }: Drawing): readonly Point[] {
  return (first?.buckets ?? []).flatMap((bucket) =>
    bucket.close === null ? [] : [{ atMs: timeIn[form](bucket), price: bucket.close }],
  );
}

/** Returns the point to which a key moves the crosshair: `null` removes it, `undefined` is another key. */
function pointAfterKey(
  key: string,
  points: readonly Point[],
  at: number,
): Point | null | undefined {
  switch (key) {
    case "ArrowLeft":
      return points[Math.max(0, at - 1)];
    case "ArrowRight":
      return points[Math.min(points.length - 1, at + 1)];
    case "Home":
      return points[0];
    case "End":
      return points.at(-1);
    case "Escape":
      return null;
    default:
      return undefined;
  }
}

/** Returns the bucket of a series at a time, or its newest one. */
function bucketAt(
  { buckets }: ChartSeries,
  { form }: Drawing,
  atMs: number | null,
): Bucket | undefined {
  return buckets.findLast((one) => one.close !== null && timeIn[form](one) <= (atMs ?? Infinity));
}

/** Returns the volume at a time, or the newest one. In a replay, later ones are not known yet. */
function barAt(drawing: Drawing, atMs: number | null): VolumeBar | undefined {
  const getTime = timeIn[drawing.form];
  const known = drawing.series.flatMap((series) => bucketAt(series, drawing, atMs) ?? []);
  const latest = Math.max(...known.map(getTime));
  return drawing.bars.findLast((bar) => getTime(bar) <= latest);
}

function Legend(props: { readonly drawing: Drawing; readonly hoveredMs: number | null }) {
  const { drawing, hoveredMs } = props;
  return (
    <div class="legend num" aria-hidden="true">
      {drawing.series.map((series) => (
        <span key={series.id}>
          {drawing.form === "line" && <i class={series.color} />}
          {series.name} <b>{percent(bucketAt(series, drawing, hoveredMs)?.close)}</b>
        </span>
      ))}
    </div>
  );
}

/** What is known about the time under the pointer, over the chart. */
function Details({ drawing, atMs }: { readonly drawing: Drawing; readonly atMs: number }) {
  const [first] = drawing.form === "candles" ? drawing.series : [];
  const candle = first === undefined ? null : (bucketAt(first, drawing, atMs)?.candle ?? null);
  const bar = barAt(drawing, atMs);
  return (
    <p class="details num" aria-hidden="true">
      {candle !== null && (
        <span>
          O {cents(candle.open)} H {cents(candle.high)} L {cents(candle.low)} C{" "}
          {cents(candle.close)}
        </span>
      )}
      {bar !== undefined && (
        <span>
          {dollars(bar.volumeUsd)} traded · {timeRange(bar.fromMs, bar.toMs)}
        </span>
      )}
    </p>
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

/** Describes the values at a time, or the newest ones, for screen readers. */
function describeAt(drawing: Drawing, atMs: number | null): string {
  const values = drawing.series.map(
    (series) => `${series.name} ${percent(bucketAt(series, drawing, atMs)?.close)}`,
  );
  const bar = barAt(drawing, atMs);
  const traded =
    bar === undefined
      ? []
      : [`${dollars(bar.volumeUsd)} traded, ${timeRange(bar.fromMs, bar.toMs)}`];
  return [...values, ...traded].join(", ");
}
