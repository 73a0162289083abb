import { fill, h, notice } from "../dom.ts";
import { wordsOf } from "../page.ts";
import { openClient } from "../session.ts";

/** Asks for a key and takes it when the service does. `why` says what is wrong with the last one. */
export function keyForm(why: string | null, onKey: (key: string) => void): HTMLElement {
  const input = h("input", {
    name: "key",
    required: true,
    "aria-label": "API key",
    placeholder: "ow_read_…",
    autocomplete: "off",
    spellcheck: "false",
    size: 40,
  });
  const said = h("div", { "aria-live": "polite" }, why === null ? null : notice(why));
  const form = h("form", {}, input, h("button", { class: "primary" }, "Open"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const key = input.value.trim();
    openClient(key)
      .markets({ limit: 1 })
      .page()
      .then(
        () => onKey(key),
        (thrown: unknown) => fill(said, notice(wordsOf(thrown))),
      );
  });
  return h(
    "div",
    {},
    h("h1", {}, "Oddwire"),
    h(
      "p",
      {},
      "Markets, trades, prices and books of a prediction-market exchange, as the chain has them.",
    ),
    h(
      "p",
      {},
      "This page speaks the same API as everybody, so it needs a key. It is kept until the tab is closed.",
    ),
    form,
    said,
    h(
      "p",
      { class: "dim" },
      "Anyone who runs this service makes keys with ",
      h("code", {}, "oddwire keys create"),
      ".",
    ),
  );
}
