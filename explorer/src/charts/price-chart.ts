/** Wraps the chart library: probabilities over time in the viewer's zone, and volume below. */
import {
  type AutoscaleInfo,
  CandlestickSeries,
  ColorType,
  CrosshairMode,
  createChart,
  HistogramSeries,
  type IChartApi,
  type ISeriesApi,
  LineSeries,
  LineType,
  type MouseEventParams,
  TickMarkType,
  type Time,
  type UTCTimestamp,
} from "lightweight-charts";
import { dateAndTime, monthAndDay } from "../format/times.ts";
import type { Bucket } from "./buckets.ts";
import { timeIn, type VolumeBar } from "./lines.ts";
import { axisLabel, getTickLabels } from "./price-axis.ts";
import { toInstant, zoned, zonedSeconds } from "./zoned-time.ts";

/** The series of one line, or of the candles. */
export type ChartSeries = {
  readonly id: string;
  readonly name: string;
  /** The name of a CSS variable, for example `series-1`. */
  readonly color: string;
  readonly buckets: readonly Bucket[];
};

/** The contents of the chart. */
export type Drawing = {
  readonly form: "line" | "candles";
  /** Candles are drawn for the first series only. */
  readonly series: readonly ChartSeries[];
  /** The volume of everything that is drawn. */
  readonly bars: readonly VolumeBar[];
  /** Names the range and the form. The part that the viewer chose to see is kept while it stays the same. */
  readonly view: string;
};

type Line = ISeriesApi<"Line">;

const volumePane = { top: 0.82, bottom: 0 };
const pricePane = { top: 0.1, bottom: 0.22 };

/** A chart on an element of the page, until it is closed. */
export class PriceChart {
  readonly #element: HTMLElement;
  readonly #chart: IChartApi;
  readonly #lines = new Map<string, Line>();
  #candles: ISeriesApi<"Candlestick"> | null = null;
  readonly #volume: ISeriesApi<"Histogram">;
  #drawing: Drawing | null = null;

  private constructor(element: HTMLElement, onHover: (atMs: number | null) => void) {
    this.#element = element;
    this.#chart = createChart(element, {
      autoSize: true,
      // The footer of the page has the link that the license requires.
      layout: {
        background: { type: ColorType.Solid, color: "transparent" },
        attributionLogo: false,
      },
      grid: { vertLines: { visible: false } },
      crosshair: { mode: CrosshairMode.Magnet },
      timeScale: {
        timeVisible: true,
        borderVisible: false,
        fixLeftEdge: true,
        fixRightEdge: true,
        lockVisibleTimeRangeOnResize: true,
        tickMarkFormatter: dayLabel,
      },
      rightPriceScale: { borderVisible: false, entireTextOnly: true, scaleMargins: pricePane },
      localization: {
        priceFormatter: axisLabel,
        tickmarksPriceFormatter: (prices: readonly number[]) =>
          getTickLabels(prices, getLastPrices(this.#drawing)),
        timeFormatter: timeLabel,
        locale: "en",
      },
      handleScroll: { vertTouchDrag: false },
    });
    this.#volume = this.#chart.addSeries(HistogramSeries, {
      priceScaleId: "volume",
      priceFormat: { type: "volume" },
      lastValueVisible: false,
      priceLineVisible: false,
    });
    this.#chart.priceScale("volume").applyOptions({ scaleMargins: volumePane });
    this.#chart.subscribeCrosshairMove(({ time }: MouseEventParams) => {
      // Series are asked for their values at the end of this second.
      onHover(time === undefined ? null : toInstant(time as UTCTimestamp) + 999);
    });
    element.addEventListener("wheel", keepFromChart, { capture: true, passive: true });
    this.recolor();
  }

  static open(element: HTMLElement, onHover: (atMs: number | null) => void): PriceChart {
    return new PriceChart(element, onHover);
  }

  /** Draws the contents. */
  draw(drawing: Drawing): void {
    const timeScale = this.#chart.timeScale();
    const isMoved = getEdges(this.#drawing) !== getEdges(drawing);
    const isZoomed = this.#drawing?.view === drawing.view && !this.#isWhole();
    const seen = isZoomed ? timeScale.getVisibleRange() : null;
    this.#drawing = drawing;
    if (drawing.form === "line") this.#drawLines(drawing);
    else this.#drawCandles(drawing);
    this.#drawVolume(drawing);
    if (!isMoved) return;
    if (seen === null) timeScale.fitContent();
    else timeScale.setVisibleRange(seen);
  }

  /** Moves the crosshair to the price of the first series at a time; `null` removes it. */
  point(at: { readonly atMs: number; readonly price: number } | null): void {
    const [line] = this.#lines.values();
    const series = line ?? this.#candles;
    if (at === null || series === null) this.#chart.clearCrosshairPosition();
    else this.#chart.setCrosshairPosition(at.price, zonedSeconds(at.atMs), series);
  }

  /** Returns whether the viewer sees the chart whole, and not a part that was zoomed into. */
  #isWhole(): boolean {
    const range = this.#chart.timeScale().getVisibleLogicalRange();
    const bars = range && this.#volume.barsInLogicalRange(range);
    return bars === null || (bars.barsBefore < 1 && bars.barsAfter < 1);
  }

  /** Applies the current colors of the page. */
  recolor(): void {
    const color = colorReader(this.#element);
    const [dim, grid, up, down] = [color("dim"), color("line"), color("up"), color("down")];
    this.#chart.applyOptions({
      layout: { textColor: dim, fontFamily: getComputedStyle(this.#element).fontFamily },
      grid: { horzLines: { color: grid } },
      crosshair: { vertLine: { color: dim }, horzLine: { color: dim } },
    });
    this.#volume.applyOptions({ color: color("volume") });
    this.#candles?.applyOptions({
      upColor: up,
      downColor: down,
      wickUpColor: up,
      wickDownColor: down,
    });
    for (const series of this.#drawing?.series ?? []) {
      this.#lines.get(lineName(series))?.applyOptions({ color: color(series.color) });
    }
  }

  close(): void {
    this.#chart.remove();
  }

  #drawLines({ series }: Drawing): void {
    if (this.#candles !== null) this.#chart.removeSeries(this.#candles);
    this.#candles = null;
    const names = new Set(series.map(lineName));
    for (const [name, line] of this.#lines) {
      if (names.has(name)) continue;
      this.#chart.removeSeries(line);
      this.#lines.delete(name);
    }
    for (const one of series) {
      const line = this.#lines.get(lineName(one)) ?? this.#addLine(one);
      line.setData(
        zoned(one.buckets, timeIn.line, ({ close }, time) =>
          close === null ? { time } : { time, value: close },
        ),
      );
    }
  }

  #addLine(series: ChartSeries): Line {
    const line = this.#chart.addSeries(LineSeries, {
      color: colorReader(this.#element)(series.color),
      lineWidth: 2,
      lineType: LineType.WithSteps,
      priceLineVisible: false,
      lastValueVisible: true,
      priceFormat: { type: "custom", formatter: axisLabel, minMove: 0.001 },
      autoscaleInfoProvider: clamped,
    });
    this.#lines.set(lineName(series), line);
    return line;
  }

  #drawCandles({ series }: Drawing): void {
    for (const line of this.#lines.values()) this.#chart.removeSeries(line);
    this.#lines.clear();
    if (this.#candles === null) {
      this.#candles = this.#chart.addSeries(CandlestickSeries, {
        borderVisible: false,
        priceLineVisible: false,
        priceFormat: { type: "custom", formatter: axisLabel, minMove: 0.001 },
        autoscaleInfoProvider: clamped,
      });
      this.recolor();
    }
    this.#candles.setData(
      zoned(series[0]?.buckets ?? [], timeIn.candles, ({ candle }, time) => {
        if (candle === null) return { time };
        const { open, high, low, close } = candle;
        return {
          time,
          open: Number(open),
          high: Number(high),
          low: Number(low),
          close: Number(close),
        };
      }),
    );
  }

  #drawVolume({ form, bars }: Drawing): void {
    this.#volume.setData(
      zoned(bars, timeIn[form], ({ volumeUsd: value }, time) => ({ time, value })),
    );
  }
}

/**
 * Names a line by series and color: a new color makes a new line, because reading colors on each change forces a
 * layout.
 */
function lineName({ id, color }: ChartSeries): string {
  return `${id} ${color}`;
}

function getLastPrices(drawing: Drawing | null): readonly number[] {
  return (drawing?.series ?? []).flatMap(
    ({ buckets }) => buckets.findLast(({ close }) => close !== null)?.close ?? [],
  );
}

function timeLabel(time: Time): string {
  return dateAndTime(toInstant(time as UTCTimestamp));
}

/** Returns the label of a day on the time axis; none for the odd second at which a line ends; `null` leaves it to the chart. */
function dayLabel(time: Time, type: TickMarkType): string | null {
  if (type === TickMarkType.TimeWithSeconds) return "";
  return type === TickMarkType.DayOfMonth ? monthAndDay(toInstant(time as UTCTimestamp)) : null;
}

/** The wheel scrolls the page. With Ctrl, as in a pinch, it zooms the chart. */
function keepFromChart(event: WheelEvent): void {
  if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
}

/** Identifies the time axis of a drawing. */
function getEdges(drawing: Drawing | null): string {
  const buckets = drawing?.series[0]?.buckets ?? [];
  return `${drawing?.view} ${buckets[0]?.fromMs} ${buckets.length}`;
}

/** Adds a margin around the prices, within 0 and 1. */
function clamped(original: () => AutoscaleInfo | null): AutoscaleInfo | null {
  const found = original();
  if (found === null || found.priceRange === null) return found;
  const { minValue, maxValue } = found.priceRange;
  const room = Math.max(0.02, (maxValue - minValue) * 0.1);
  return {
    ...found,
    priceRange: {
      minValue: Math.max(0, minValue - room),
      maxValue: Math.min(1, maxValue + room),
    },
  };
}

/** Reads CSS variables as colors that a canvas can use. */
function colorReader(element: HTMLElement): (name: string) => string {
  return (name) => {
    const probe = document.createElement("span");
    probe.style.color = `var(--${name})`;
    element.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
}
