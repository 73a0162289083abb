import { h } from "../dom.ts";
import type { Page } from "../page.ts";
import { follow } from "../parts/follow.ts";
import { TradeTape } from "../parts/trade-tape.ts";

/** The newest trades of all markets, as they happen. */
export const tradesPage: Page = (context) => {
  const tape = new TradeTape({ about: context.about, withMarkets: true });
  const said = h("p", { class: "dim", "aria-live": "polite" });
  void follow(
    context,
    { channel: { type: "trades" }, snapshot: 100 },
    {
      said,
      snapshot: (trades) => trades.forEach((trade) => tape.add(trade, false)),
      event: (trade) => tape.add(trade, true),
      reorg: (frame) => tape.rewind(frame),
    },
  );
  return h("div", {}, h("h1", {}, "Trades"), said, h("section", { class: "panel" }, tape.element));
};
