import type { GetMarkets, Market } from "../../../client/src/api.ts";
import { fill, h, notice } from "../dom.ts";
import { cents, count, dollars } from "../format.ts";
import { type Page, type PageContext, wordsOf } from "../page.ts";

type Query = GetMarkets["query"];

const typingPauseMs = 150;
const pageRows = 30;

/** Search as you type, by status and in an order; more on request. */
export const marketsPage: Page = (context) => {
  const search = h("input", {
    type: "search",
    name: "search",
    placeholder: "Search markets",
    "aria-label": "Search markets",
    maxlength: 200,
    autocomplete: "off",
  });
  const status = select("Status", { open: "open", all: "all", resolved: "resolved" });
  const sort = select("Sorted by", {
    volume_24h: "volume of 24 h",
    volume: "volume",
    trades_24h: "trades of 24 h",
    created_at: "newest",
    last_trade_at: "last trade",
  });
  const results = new Results(context);
  const read = (): void => {
    const text = search.value.trim();
    void results.show({
      limit: pageRows,
      status: status.control.value as NonNullable<Query["status"]>,
      // What was searched for is ranked by how well it fits.
      ...(text === ""
        ? { sort: sort.control.value as NonNullable<Query["sort"]> }
        : { search: text }),
    });
  };
  let pause: ReturnType<typeof setTimeout> | undefined;
  search.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(read, typingPauseMs);
  });
  for (const { control } of [status, sort]) control.addEventListener("change", read);
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== "/" || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    search.focus();
  };
  document.addEventListener("keydown", onKey, { signal: context.signal });
  read();
  return h(
    "div",
    {},
    h("h1", {}, "Markets"),
    h("div", { class: "toolbar", role: "search" }, search, status.element, sort.element),
    results.element,
  );
};

/** The list; an answer that comes after a newer question is dropped. */
class Results {
  readonly #list = h("ul", { class: "cards" });
  readonly #more = h("button", { type: "button", hidden: true }, "More");
  readonly #said = h("p", { class: "dim", "aria-live": "polite" });
  readonly element = h("div", {}, this.#said, this.#list, this.#more);
  readonly #context: PageContext;
  #asked = 0;

  constructor(context: PageContext) {
    this.#context = context;
    this.#more.addEventListener("click", () => this.#next?.());
  }

  #next: (() => void) | null = null;

  async show(query: Query): Promise<void> {
    this.#list.replaceChildren();
    await this.#read(query, undefined);
  }

  async #read(query: Query, cursor: string | undefined): Promise<void> {
    this.#asked += 1;
    const asked = this.#asked;
    try {
      const { data, pagination } = await this.#context.client.markets(query).page(cursor);
      if (asked !== this.#asked || this.#context.signal.aborted) return;
      this.#list.append(...data.map(card));
      const { next_cursor: next } = pagination;
      this.#more.hidden = next === null;
      this.#next = next === null ? null : () => void this.#read(query, next);
      fill(this.#said, this.#list.childElementCount === 0 ? "No market fits." : "");
    } catch (thrown) {
      if (asked === this.#asked) fill(this.#said, notice(wordsOf(thrown)));
    }
  }
}

function card(market: Market): HTMLElement {
  const { id, question, tokens, status, volume_24h_usd: dayVolume, volume_usd: volume } = market;
  const [first] = tokens;
  const facts = [
    status === "resolved" ? `resolved: ${market.resolution?.winning_outcome ?? "split"}` : null,
    `${dollars(dayVolume)} in 24 h`,
    `${dollars(volume)} in all`,
    `${count(market.trades)} trades`,
    market.category,
  ].filter((fact) => fact !== null);
  return h(
    "li",
    {},
    h(
      "a",
      { href: `#/market/${id}` },
      h("span", { class: "title" }, question ?? id),
      h("span", { class: "price" }, cents(first?.price ?? null)),
      h("span", { class: "facts" }, facts.join(" · ")),
      h("span", { class: "facts price" }, first?.outcome ?? ""),
    ),
  );
}

function select(
  name: string,
  options: Readonly<Record<string, string>>,
): { element: HTMLElement; control: HTMLSelectElement } {
  const control = h(
    "select",
    {},
    ...Object.entries(options).map(([value, text]) => h("option", { value }, text)),
  );
  return { control, element: h("label", {}, name, control) };
}
