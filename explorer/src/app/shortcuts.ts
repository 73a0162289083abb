import { signal } from "@preact/signals";
import { navigate } from "../routing/location.ts";
import { paths } from "../routing/paths.ts";

export const isHelpOpen = signal(false);

/** Keys that work on every page, and what they do. */
export const shortcuts = [
  { keys: "/", does: "Search markets, wallets, transactions" },
  { keys: "↑ ↓ Enter", does: "Move through results and rows, and open one" },
  { keys: "j k", does: "Move through the rows of a list" },
  { keys: "← →", does: "Move along a chart that has the focus" },
  { keys: "g m", does: "Go to markets" },
  { keys: "g t", does: "Go to trades" },
  { keys: "g s", does: "Go to status" },
  { keys: "g k", does: "Go to keys" },
  { keys: "Esc", does: "Close" },
  { keys: "?", does: "Show this help" },
] as const;

const places: Readonly<Record<string, string>> = {
  m: paths.markets,
  t: paths.trades,
  s: paths.status,
  k: paths.keys,
};

/** Listens for the shortcuts. The returned function stops listening. */
export function watchShortcuts(): () => void {
  let isAfterG = false;
  const take = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const place = isAfterG ? places[event.key] : undefined;
    isAfterG = event.key === "g";
    if (place !== undefined) navigate(place);
    else if (event.key === "?") isHelpOpen.value = true;
    else if (event.key === "/") focusSearch(event);
    else if (event.key === "j" || event.key === "k") moveRow(event, event.key === "j" ? 1 : -1);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (document.activeElement?.matches("[data-row]") === true)
        moveRow(event, event.key === "ArrowDown" ? 1 : -1);
    }
  };
  addEventListener("keydown", take);
  return () => removeEventListener("keydown", take);
}

function focusSearch(event: KeyboardEvent): void {
  event.preventDefault();
  document.getElementById("search")?.focus();
}

/** Moves the focus to the next or previous link that opens a row. */
function moveRow(event: KeyboardEvent, by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  const at = rows.findIndex((row) => row === document.activeElement);
  const next = rows[at === -1 ? 0 : at + by];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.matches("input:not([type=range]), select, textarea") ||
      target.closest("dialog") !== null)
  );
}
