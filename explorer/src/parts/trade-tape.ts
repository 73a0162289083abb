import type { Trade } from "../../../client/src/api.ts";
import type { ReorgFrame } from "../../../client/src/stream-frames.ts";
import { h } from "../dom.ts";
import { cents, exact, short, time } from "../format.ts";
import type { About } from "../page.ts";

const rowsMax = 200;
/** Where a transaction can be looked at, by chain. */
const chainPages: Readonly<Record<number, string>> = { 137: "https://polygonscan.com/tx/" };

type TapeOptions = {
  readonly about: Promise<About>;
  /** Shows which market each trade is of. */
  readonly withMarkets: boolean;
};

/** The newest trades, newest first; what a fork reverts is struck out and goes. */
export class TradeTape {
  readonly element: HTMLElement;
  readonly #body = h("tbody");
  readonly #rows = new Map<string, { readonly row: HTMLElement; readonly seq: number }>();
  readonly #options: TapeOptions;
  #transactionPage: string | null = null;

  constructor(options: TapeOptions) {
    this.#options = options;
    void this.#learnChain();
    const market = options.withMarkets ? [h("th", {}, "Market")] : [];
    const head = h(
      "tr",
      {},
      h("th", {}, "Time"),
      ...market,
      h("th", {}, "Trade"),
      h("th", { class: "right" }, "Shares"),
      h("th", { class: "right" }, "Price"),
      h("th", { class: "wide" }, "Match"),
      h("th", { class: "wide" }, "Transaction"),
    );
    const table = h("table", { "aria-label": "Trades, newest first" }, h("thead", {}, head));
    table.append(this.#body);
    this.element = h("div", { class: "scroll" }, table);
  }

  async #learnChain(): Promise<void> {
    const { chainId } = await this.#options.about;
    this.#transactionPage = chainPages[chainId ?? 0] ?? null;
  }

  add(trade: Trade, isFresh: boolean): void {
    if (this.#rows.has(trade.id)) return;
    const row = this.#draw(trade, isFresh);
    this.#rows.set(trade.id, { row, seq: trade.seq });
    this.#body.prepend(row);
    const [oldest] = this.#rows;
    if (this.#rows.size > rowsMax && oldest !== undefined) this.#drop(oldest[0]);
  }

  /** Reverts what a fork reverted. */
  rewind({ rewind_to_seq: rewindTo, reverted }: ReorgFrame): void {
    const named = new Set(reverted);
    for (const [id, { row, seq }] of this.#rows) {
      if (!named.has(id) && seq <= (rewindTo ?? 0)) continue;
      this.#rows.delete(id);
      row.className = "taken-back";
      row.title = "reverted by a reorganization of the chain";
      setTimeout(() => row.remove(), 3000);
    }
  }

  #drop(id: string): void {
    this.#rows.get(id)?.row.remove();
    this.#rows.delete(id);
  }

  #draw(trade: Trade, isFresh: boolean): HTMLElement {
    const { side, outcome, size, price, match_type: matchType } = trade;
    const market = this.#options.withMarkets ? [h("td", {}, marketLink(trade))] : [];
    return h(
      "tr",
      { "data-id": trade.id, ...(isFresh ? { class: "fresh" } : {}) },
      h("td", { title: trade.timestamp }, time(trade.timestamp_ms)),
      ...market,
      h("td", { class: side === "BUY" ? "up" : "down" }, `${side} ${outcome ?? ""}`),
      h("td", { class: "right" }, exact(size)),
      h("td", { class: "right" }, cents(price)),
      h("td", { class: "wide dim" }, matchType),
      h("td", { class: "wide mono" }, this.#transaction(trade)),
    );
  }

  #transaction({ tx_hash: hash }: Trade): HTMLElement {
    const page = this.#transactionPage;
    if (page === null) return h("span", { title: hash }, short(hash));
    return h("a", { href: page + hash, rel: "noreferrer noopener", target: "_blank" }, short(hash));
  }
}

function marketLink({ condition_id: id }: Trade): HTMLElement {
  if (id === null) return h("span", { class: "dim" }, "not known");
  return h("a", { href: `#/market/${id}`, class: "mono" }, short(id));
}
