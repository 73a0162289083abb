import type { Market, Price, TokenId } from "../../../client/src/api.ts";
import { fill, h, notice, panel, terms } from "../dom.ts";
import { cents, count, day, dollars, exact } from "../format.ts";
import { type Page, type PageContext, wordsOf } from "../page.ts";
import { CandleChart } from "../parts/candle-chart.ts";
import { follow } from "../parts/follow.ts";
import { OrderBook } from "../parts/order-book.ts";
import { TradeTape } from "../parts/trade-tape.ts";

const resolutions = ["1m", "5m", "15m", "1h", "4h", "1d"] as const;
type Resolution = (typeof resolutions)[number];

const tapeRows = 100;

/** One market: both outcomes, candles, book, tape, statistics, result. */
export const marketPage: Page = (context) => {
  const element = h("div", {}, h("p", { class: "dim" }, "Loading…"));
  void show(element, context).catch((thrown: unknown) => fill(element, notice(wordsOf(thrown))));
  return element;
};

async function show(element: HTMLElement, context: PageContext): Promise<void> {
  const market = await context.client.market(context.parameter);
  if (context.signal.aborted) return;
  document.title = `${market.question ?? "Market"} · Oddwire`;
  const outcomes = new Outcomes(market, context);
  const details = h("div", {});
  fill(
    element,
    h("h1", {}, market.question ?? market.id),
    describe(market),
    outcomes.element,
    details,
  );
  const trades = openTrades(market, context);
  outcomes.onChosen = (tokenId, signal) => {
    const chosen = { ...context, signal };
    fill(
      details,
      h(
        "div",
        { class: "columns two" },
        openChart(tokenId, chosen),
        panel("Order book", openBook(tokenId, chosen)),
      ),
      h("div", { class: "columns two" }, trades, panel("Last 24 hours", outcomes.statistics)),
      h("p", { class: "mono dim" }, `token ${tokenId}`),
    );
  };
  outcomes.open();
}

function describe(market: Market): HTMLElement {
  const { resolution, description, created_at_ms: createdMs } = market;
  const result = resolution?.winning_outcome ?? resolution?.payouts.join(" / ");
  const facts = [
    market.status === "open" ? "open" : `resolved ${day(market.resolved_at_ms)}: ${result}`,
    `${dollars(market.volume_usd)} traded`,
    `${count(market.trades)} trades`,
    `since ${day(createdMs)}`,
    ...(market.neg_risk ? ["neg-risk"] : []),
    ...(market.category === null ? [] : [market.category]),
  ];
  return h(
    "div",
    {},
    h("p", { class: "dim" }, facts.join(" · ")),
    description !== null &&
      h("details", {}, h("summary", {}, "Rules"), h("p", {}, description.slice(0, 4000))),
  );
}

/** The outcomes with their prices, live; one of them is looked at closely. */
class Outcomes {
  readonly element = h("div", { class: "outcomes", role: "group", "aria-label": "Outcomes" });
  /** The last 24 hours of the outcome that is looked at. */
  readonly statistics = h("div");
  onChosen: (tokenId: TokenId, signal: AbortSignal) => void = () => {};
  readonly #market: Market;
  readonly #context: PageContext;
  readonly #cards = new Map<TokenId, HTMLButtonElement>();
  readonly #prices = new Map<TokenId, Price>();
  #chosenId: TokenId | null = null;
  #chosen = new AbortController();

  constructor(market: Market, context: PageContext) {
    this.#market = market;
    this.#context = context;
    for (const { token_id: tokenId, outcome, price, winner } of market.tokens) {
      const card = h("button", { type: "button", class: "outcome", "aria-pressed": "false" });
      card.addEventListener("click", () => this.#choose(tokenId));
      fill(card, ...faceOf(outcome, price, winner === true ? "won" : ""));
      this.#cards.set(tokenId, card);
      this.element.append(card);
    }
  }

  open(): void {
    const { signal } = this.#context;
    signal.addEventListener("abort", () => this.#chosen.abort(), { once: true });
    const [first] = this.#market.tokens;
    if (first !== undefined) this.#choose(first.token_id);
    const tokenIds = this.#market.tokens.map(({ token_id: tokenId }) => tokenId);
    if (tokenIds.length === 0) return;
    const show = (price: Price): void => this.#show(price);
    void this.#context.client.prices(tokenIds).then((prices) => prices.forEach(show));
    void follow(
      this.#context,
      { channel: { type: "price", token_ids: tokenIds } },
      { event: show },
    );
  }

  #choose(tokenId: TokenId): void {
    this.#chosen.abort();
    this.#chosen = new AbortController();
    this.#chosenId = tokenId;
    for (const [id, card] of this.#cards) card.setAttribute("aria-pressed", String(id === tokenId));
    const price = this.#prices.get(tokenId);
    fill(this.statistics, price === undefined ? null : drawStatistics(price));
    this.onChosen(tokenId, this.#chosen.signal);
  }

  #show(shown: Price): void {
    const { token_id: tokenId, price, stats_24h: stats, best_bid: bid, best_ask: ask } = shown;
    this.#prices.set(tokenId, shown);
    if (tokenId === this.#chosenId) fill(this.statistics, drawStatistics(shown));
    const card = this.#cards.get(tokenId);
    const token = this.#market.tokens.find(({ token_id: id }) => id === tokenId);
    if (card === undefined || token === undefined) return;
    const change = Number(stats.change ?? 0);
    const tone = change > 0 ? "up" : change < 0 ? "down" : "dim";
    fill(
      card,
      ...faceOf(token.outcome, price, token.winner === true ? "won" : ""),
      h("span", { class: tone }, `${change > 0 ? "+" : ""}${cents(stats.change)} in 24 h`),
      h("span", { class: "dim" }, `${cents(stats.low)} to ${cents(stats.high)}`),
      h("span", { class: "dim" }, `${dollars(stats.volume_usd)}, ${count(stats.trades)} trades`),
      bid !== null && h("span", { class: "dim" }, `bid ${cents(bid)}, ask ${cents(ask)}`),
    );
  }
}

function faceOf(outcome: string | null, price: string | null, mark: string): HTMLElement[] {
  return [
    h("span", { class: "dim" }, `${outcome ?? "Outcome"} ${mark}`),
    h("span", { class: "big" }, cents(price)),
  ];
}

/** The trades of all outcomes: what candles are made of too. */
function openTrades({ tokens }: Market, context: PageContext): HTMLElement {
  const tape = new TradeTape({ about: context.about, withMarkets: false });
  const said = h("span", { class: "dim", "aria-live": "polite" });
  const tokenIds = tokens.map(({ token_id: tokenId }) => tokenId);
  if (tokenIds.length > 0) {
    const channel = { type: "token_trades", token_ids: tokenIds } as const;
    void follow(
      context,
      { channel, snapshot: tapeRows },
      {
        said,
        snapshot: (trades) => trades.forEach((trade) => tape.add(trade, false)),
        event: (trade) => tape.add(trade, true),
        reorg: (frame) => tape.rewind(frame),
      },
    );
  }
  return panel("Trades", said, tape.element);
}

function openChart(tokenId: TokenId, context: PageContext): HTMLElement {
  const chart = new CandleChart();
  const said = h("p", { class: "dim" });
  let shown = new AbortController();
  const show = async (resolution: Resolution): Promise<void> => {
    shown.abort();
    shown = new AbortController();
    const signal = AbortSignal.any([context.signal, shown.signal]);
    fill(said);
    try {
      const candles = context.client.candles(tokenId, { resolution, order: "desc", limit: 500 });
      const pages = candles.pages();
      const readOlder = async () => (await pages.next()).value?.data ?? [];
      const newest = await readOlder();
      if (signal.aborted) return;
      chart.show(newest, readOlder);
      if (newest.length === 0) fill(said, "No trade yet.");
      const channel = { type: "candles", token_id: tokenId, resolution } as const;
      await follow({ ...context, signal }, { channel }, { event: (one) => chart.update(one) });
    } catch (thrown) {
      if (!signal.aborted) fill(said, notice(wordsOf(thrown)));
    }
  };
  const buttons = resolutions.map((resolution) => {
    const button = h("button", { type: "button", "aria-pressed": "false" }, resolution);
    button.addEventListener("click", () => {
      for (const one of buttons) one.setAttribute("aria-pressed", String(one === button));
      void show(resolution);
    });
    return button;
  });
  // A canvas can only be measured once it is on the page.
  requestAnimationFrame(() => {
    if (context.signal.aborted) return;
    chart.open(context.signal);
    buttons.find(({ textContent }) => textContent === "15m")?.click();
  });
  const toolbar = { class: "toolbar", role: "group", "aria-label": "Length of a candle" };
  return panel("Price", h("div", toolbar, ...buttons), said, chart.element);
}

function openBook(tokenId: TokenId, context: PageContext): HTMLElement {
  const book = new OrderBook();
  void followBook(tokenId, book, context).catch((thrown: unknown) => book.refuse(wordsOf(thrown)));
  return book.element;
}

async function followBook(
  tokenId: TokenId,
  shown: OrderBook,
  { client, signal, about }: PageContext,
): Promise<void> {
  const { hasBooks } = await about;
  if (!hasBooks) return shown.refuse("This service has no source of order books.");
  for await (const book of client.followBook(tokenId, { signal })) shown.show(book);
}

function drawStatistics({
  price,
  price_source: source,
  stats_24h: stats,
  complement,
}: Price): HTMLElement {
  return terms([
    ["Price", `${cents(price)} (${source?.replace("_", " ") ?? "none"})`],
    ["Other outcome", `${cents(complement?.price ?? null)} ${complement?.outcome ?? ""}`],
    ["Open", cents(stats.open)],
    ["High", cents(stats.high)],
    ["Low", cents(stats.low)],
    ["Close", cents(stats.close)],
    ["Average", cents(stats.vwap)],
    ["Volume", `${dollars(stats.volume_usd)}, ${exact(stats.volume_shares)} shares`],
    ["Bought", dollars(stats.buy_volume_usd)],
    ["Sold", dollars(stats.sell_volume_usd)],
    ["Trades", exact(stats.trades)],
  ]);
}
