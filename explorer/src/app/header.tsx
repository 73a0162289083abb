import type { ComponentChildren } from "preact";
import { duration } from "../format/times.ts";
import { segments } from "../routing/location.ts";
import { paths } from "../routing/paths.ts";
import {
  access,
  askForKey,
  freshness,
  isPublic,
  metrics,
  outage,
  signOut,
} from "../service/session.ts";
import { SearchBox } from "./search-box.tsx";
import { isHelpOpen } from "./shortcuts.ts";
import { nextTheme, theme } from "./theme.ts";

const places = [
  [paths.markets, "Markets", ["", "market", "event", "markets", "events"]],
  [paths.trades, "Trades", ["trades", "tx", "order", "transactions", "orders"]],
  [paths.status, "Status", ["status"]],
  [paths.keys, "Keys", ["keys"]],
] as const;

const themeSigns = { auto: "◐", light: "☀", dark: "☾" } as const;

/** The header of every page: navigation, search and the state of the service. */
export function Header() {
  const [name = ""] = segments.value;
  return (
    <header class="top">
      <a class="brand" href={paths.markets} aria-label="Oddwire, markets">
        <Mark />
        <span>Oddwire</span>
      </a>
      <nav aria-label="Pages">
        {places.map(([to, title, names]) => (
          <a
            key={to}
            href={to}
            aria-current={names.some((one) => one === name) ? "page" : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      <SearchBox />
      <Pulse />
      <button
        type="button"
        class="quiet icon"
        aria-label={`Theme: ${theme.value}. Change it`}
        title={`Theme: ${theme.value}`}
        onClick={nextTheme}
      >
        {themeSigns[theme.value]}
      </button>
      <button
        type="button"
        class="quiet icon help"
        aria-label="Keyboard help"
        title="Keyboard help (?)"
        onClick={() => {
          isHelpOpen.value = true;
        }}
      >
        ?
      </button>
    </header>
  );
}

/** The logo. */
function Mark() {
  return (
    <svg class="mark" width="28" height="28" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M5 20h6l4-10 4 14 3-8h5" />
    </svg>
  );
}

/** The state of the service with its newest block, and the button to use or remove a key. */
function Pulse() {
  const [state, text] = getPulse();
  return (
    <span class="pulse-group">
      <a class={`pulse ${state}`} href={paths.status}>
        {text}
      </a>
      {access.value.state === "open" && isPublic.value && (
        <button type="button" class="quiet small sign-in" onClick={() => askForKey()}>
          Use a key
        </button>
      )}
      {access.value.state === "open" && !isPublic.value && (
        <button
          type="button"
          class="quiet small sign-out"
          title="Remove the key from all tabs and from this device"
          onClick={signOut}
        >
          Sign out
        </button>
      )}
    </span>
  );
}

function getPulse(): readonly [state: string, text: ComponentChildren] {
  if (access.value.state === "locked") return ["", "no key"];
  if (outage.value?.kind === "limited") return ["", "limited for now"];
  if (outage.value !== null) return ["down", "no connection"];
  const indexer = metrics.value?.indexer ?? freshness.value;
  if (indexer === null) return ["", "connecting"];
  const { lag_seconds: lag, indexed_block: block } = indexer;
  const backfill = metrics.value?.indexer.backfill ?? null;
  if (backfill !== null) return ["", `catching up, ${(backfill.progress_ratio * 100).toFixed(0)}%`];
  if (lag !== null && lag > 60) return ["", `${duration(lag)} behind`];
  if (block === null) return ["", "no block indexed yet"];
  // A phone has no room for the word next to the number.
  return [
    "live",
    <span>
      <span class="word">block </span>
      {block}
    </span>,
  ];
}
