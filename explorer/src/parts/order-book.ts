import type { Level, LocalBook } from "../../../client/src/local-book.ts";
import { fill, h, notice } from "../dom.ts";
import { cents, exact } from "../format.ts";

const levelsShown = 8;
const size = { width: 600, height: 140 };

/** Depth as a picture, the best levels as a table. */
export class OrderBook {
  readonly element = h("div", { class: "depth" });

  show(book: LocalBook): void {
    const { bids, asks, staleReason } = book;
    fill(
      this.element,
      h(
        "p",
        { class: "dim" },
        `spread ${spreadOf(book)}, ${exact(bids.length + asks.length)} levels`,
      ),
      staleReason !== null && notice(`This book may be wrong: ${staleReason}.`),
      drawDepth(book),
      h(
        "div",
        { class: "columns half" },
        levelTable("Bids", bids, "up"),
        levelTable("Asks", asks, "down"),
      ),
    );
  }

  /** Says why there is none. */
  refuse(reason: string): void {
    fill(this.element, notice(reason));
  }
}

function spreadOf({ bids, asks }: LocalBook): string {
  const [bid] = bids;
  const [ask] = asks;
  if (bid === undefined || ask === undefined) return "–";
  return cents(String(Number(ask.price) - Number(bid.price)));
}

function levelTable(name: string, levels: readonly Level[], tone: "up" | "down"): HTMLElement {
  const rows = levels
    .slice(0, levelsShown)
    .map(({ price, size }) =>
      h("tr", {}, h("td", { class: tone }, cents(price)), h("td", { class: "right" }, exact(size))),
    );
  const head = h("tr", {}, h("th", {}, name), h("th", { class: "right" }, "Shares"));
  return h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows));
}

/** How many shares are offered up to each price, bids from the left, asks to the right. */
function drawDepth({ bids, asks }: LocalBook): SVGElement {
  const bidSteps = accumulate(bids);
  const askSteps = accumulate(asks);
  const most = Math.max(bidSteps.at(-1)?.total ?? 0, askSteps.at(-1)?.total ?? 0, 1);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", "Depth: shares offered up to each price");
  svg.append(drawSteps(bidSteps, most, "bid"), drawSteps(askSteps, most, "ask"));
  return svg;
}

type Step = { readonly price: number; readonly total: number };

function accumulate(levels: readonly Level[]): Step[] {
  let total = 0;
  return levels.map(({ price, size }) => {
    total += Number(size);
    return { price: Number(price), total };
  });
}

/** Prices lie between 0 and 1: the whole width. */
function drawSteps(steps: readonly Step[], most: number, tone: "bid" | "ask"): SVGPathElement {
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  const [best] = steps;
  if (best === undefined) return path;
  const x = (price: number): string => (price * size.width).toFixed(1);
  const y = (total: number): string => (size.height * (1 - total / most)).toFixed(1);
  const corners = steps.map(({ price, total }) => `H${x(price)}V${y(total)}`).join("");
  const end = tone === "bid" ? 0 : size.width;
  path.setAttribute("d", `M${x(best.price)},${size.height}${corners}H${end}V${size.height}Z`);
  path.setAttribute("class", tone);
  return path;
}
