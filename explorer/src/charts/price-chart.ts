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
  type MouseEventParams,
  type UTCTimestamp,
} from "lightweight-charts";
import { percent } from "../format/numbers.ts";
import type { Bucket, VolumeBar } from "./buckets.ts";
import { zoned, zonedSeconds } from "./zoned-time.ts";

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
  /** The volume of everything that is drawn, on the times of the first series. */
  readonly bars: readonly VolumeBar[];
  /** Later buckets are not drawn, but their space is kept. */
  readonly untilMs: number | null;
};

type Line = ISeriesApi<"Line">;

const volumePane = { top: 0.82, bottom: 0 };
const pricePane = { top: 0.06, bottom: 0.22 };

/** A chart on an element of the page, until it is closed. */
export class PriceChart {
  readonly #element: HTMLElement;
  readonly #chart: IChartApi;
  readonly #lines = new Map<string, Line>();
  #candles: ISeriesApi<"Candlestick"> | null = null;
  readonly #volume: ISeriesApi<"Histogram">;
  #drawing: Drawing | null = null;
  #timeByClock = new Map<number, number>();

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
      timeScale: { timeVisible: true, borderVisible: false, fixLeftEdge: true, fixRightEdge: true },
      rightPriceScale: { borderVisible: false, entireTextOnly: true, scaleMargins: pricePane },
      localization: { priceFormatter: axisLabel },
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
      const clock = time as UTCTimestamp | undefined;
      onHover(clock === undefined ? null : (this.#timeByClock.get(clock) ?? null));
    });
    this.recolor();
  }

  static open(element: HTMLElement, onHover: (atMs: number | null) => void): PriceChart {
    return new PriceChart(element, onHover);
  }

  /** Draws the contents. The view is kept while the time range and the form stay the same. */
  draw(drawing: Drawing): void {
    const before = this.#drawing;
    this.#drawing = drawing;
    const [first] = drawing.series;
    const drawn = first?.buckets ?? [];
    this.#timeByClock = new Map(drawn.map(({ atMs }) => [zonedSeconds(atMs), atMs]));
    if (drawing.form === "line") this.#drawLines(drawing);
    else this.#drawCandles(drawing);
    this.#drawVolume(drawing);
    if (isOtherWindow(before, drawing)) this.#chart.timeScale().fitContent();
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

  #drawLines({ series, untilMs }: Drawing): void {
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
        zoned(one.buckets, ({ close, atMs }, time) =>
          close === null || isLater(atMs, untilMs) ? { time } : { time, value: close },
        ),
      );
    }
  }

  #addLine(series: ChartSeries): Line {
    const line = this.#chart.addSeries(LineSeries, {
      color: colorReader(this.#element)(series.color),
      lineWidth: 2,
      priceLineVisible: false,
      lastValueVisible: true,
      priceFormat: { type: "custom", formatter: axisLabel, minMove: 0.001 },
      autoscaleInfoProvider: clamped,
    });
    this.#lines.set(lineName(series), line);
    return line;
  }

  #drawCandles({ series, untilMs }: Drawing): void {
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
      zoned(series[0]?.buckets ?? [], ({ candle, atMs }, time) => {
        if (candle === null || isLater(atMs, untilMs)) return { time };
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

  #drawVolume({ bars, untilMs }: Drawing): void {
    this.#volume.setData(
      zoned(bars, ({ volumeUsd, atMs }, time) => ({
        time,
        value: isLater(atMs, untilMs) ? 0 : volumeUsd,
      })),
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

/** Returns the axis label of a probability; empty outside of 0 to 1. */
function axisLabel(price: number): string {
  return price < -0.0001 || price > 1.0001 ? "" : percent(price);
}

function isLater(atMs: number, untilMs: number | null): boolean {
  return untilMs !== null && atMs > untilMs;
}

function isOtherWindow(before: Drawing | null, after: Drawing): boolean {
  const edges = (drawing: Drawing | null): string => {
    const buckets = drawing?.series[0]?.buckets ?? [];
    return `${drawing?.form} ${buckets[0]?.atMs} ${buckets.length}`;
  };
  return edges(before) !== edges(after);
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
