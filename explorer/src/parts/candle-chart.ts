import {
  CandlestickSeries,
  ColorType,
  createChart,
  HistogramSeries,
  type IChartApi,
  type ISeriesApi,
  type UTCTimestamp,
} from "lightweight-charts";
import type { Candle } from "../../../client/src/api.ts";
import { h } from "../dom.ts";

/** Candles with their volume below; older ones are asked for when the reader scrolls back to them. */
export class CandleChart {
  readonly element = h("div", { class: "chart", role: "img", "aria-label": "Candles" });
  readonly #candles = new Map<number, Candle>();
  #chart: IChartApi | null = null;
  #prices: ISeriesApi<"Candlestick"> | null = null;
  #volumes: ISeriesApi<"Histogram"> | null = null;
  #readOlder: (() => Promise<readonly Candle[]>) | null = null;

  /** Draws; to be called once the element is on the page. */
  open(signal: AbortSignal): void {
    const colors = readColors();
    const chart = createChart(this.element, {
      autoSize: true,
      layout: {
        background: { type: ColorType.Solid, color: "transparent" },
        textColor: colors.dim,
        // The foot of the page has the link that the licence asks for.
        attributionLogo: false,
      },
      grid: { vertLines: { visible: false }, horzLines: { color: colors.line } },
      timeScale: { timeVisible: true, borderColor: colors.line },
      rightPriceScale: { borderColor: colors.line },
      localization: { priceFormatter: (price: number) => `${(price * 100).toFixed(1)}¢` },
    });
    this.#prices = chart.addSeries(CandlestickSeries, {
      upColor: colors.up,
      downColor: colors.down,
      wickUpColor: colors.up,
      wickDownColor: colors.down,
      borderVisible: false,
      priceFormat: { type: "price", precision: 3, minMove: 0.001 },
    });
    this.#volumes = chart.addSeries(HistogramSeries, {
      color: colors.line,
      priceScaleId: "volume",
      priceFormat: { type: "volume" },
      lastValueVisible: false,
      priceLineVisible: false,
    });
    chart.priceScale("volume").applyOptions({ scaleMargins: { top: 0.8, bottom: 0 } });
    chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
      if (range !== null && range.from < 10) void this.#extend();
    });
    this.#chart = chart;
    signal.addEventListener("abort", () => chart.remove(), { once: true });
  }

  /** Shows these, and asks `readOlder` for those before them until it has none. */
  show(candles: readonly Candle[], readOlder: () => Promise<readonly Candle[]>): void {
    this.#candles.clear();
    this.#readOlder = readOlder;
    this.#add(candles);
    this.#chart?.timeScale().fitContent();
  }

  /** Takes in a candle that has changed or begun. */
  update(candle: Candle): void {
    this.#candles.set(candle.timestamp_ms, candle);
    this.#prices?.update(priceOf(candle));
    this.#volumes?.update(volumeOf(candle));
  }

  async #extend(): Promise<void> {
    const read = this.#readOlder;
    if (read === null) return;
    this.#readOlder = null;
    const older = await read();
    if (older.length === 0) return;
    this.#add(older);
    this.#readOlder = read;
  }

  #add(candles: readonly Candle[]): void {
    for (const candle of candles) this.#candles.set(candle.timestamp_ms, candle);
    const ordered = [...this.#candles.values()].toSorted((a, b) => a.timestamp_ms - b.timestamp_ms);
    this.#prices?.setData(ordered.map(priceOf));
    this.#volumes?.setData(ordered.map(volumeOf));
  }
}

function timeOf({ timestamp_ms: milliseconds }: Candle): UTCTimestamp {
  return (milliseconds / 1000) as UTCTimestamp;
}

function priceOf(candle: Candle) {
  const { open, high, low, close } = candle;
  const [o, hi, lo, c] = [open, high, low, close].map(Number) as [number, number, number, number];
  return { time: timeOf(candle), open: o, high: hi, low: lo, close: c };
}

function volumeOf(candle: Candle) {
  return { time: timeOf(candle), value: Number(candle.volume) };
}

/** The colours of the page as they are now: the chart draws on a canvas and knows no variables. */
function readColors(): { dim: string; line: string; up: string; down: string } {
  const probe = h("span");
  document.body.append(probe);
  const read = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const colors = { dim: read("dim"), line: read("line"), up: read("up"), down: read("down") };
  probe.remove();
  return colors;
}
