/** The explorer: a key, a page by the address, and a pulse. It lives on the public API alone. */
import type { OddwireClient } from "../../client/src/client.ts";
import { OddwireError } from "../../client/src/oddwire-error.ts";
import { fill } from "./dom.ts";
import { duration } from "./format.ts";
import { type About, type Page, repeat } from "./page.ts";
import { keysPage } from "./pages/keys-page.ts";
import { marketPage } from "./pages/market-page.ts";
import { marketsPage } from "./pages/markets-page.ts";
import { statusPage } from "./pages/status-page.ts";
import { tradesPage } from "./pages/trades-page.ts";
import { keyForm } from "./parts/key-form.ts";
import { forgetKey, openClient, storedKey, storeKey, takeKeyFromAddress } from "./session.ts";

const pages: Readonly<Record<string, readonly [title: string, page: Page]>> = {
  "": ["Markets", marketsPage],
  market: ["Market", marketPage],
  trades: ["Trades", tradesPage],
  status: ["Status", statusPage],
  keys: ["Keys", keysPage],
};

const pulseEveryMs = 3000;

const content = elementOf("content");
const pulse = elementOf("pulse");
let left = new AbortController();

takeKeyFromAddress();
addEventListener("hashchange", () => {
  takeKeyFromAddress();
  show();
});
show();
void repeat(pulseEveryMs, { signal: new AbortController().signal }, beat);

/** Shows the page of the address; the one before ends. */
function show(why: string | null = null): void {
  left.abort();
  left = new AbortController();
  const key = storedKey();
  const [, name = "", parameter = ""] = location.hash.replace(/^#/, "").split("/");
  const [title, page] = pages[name] ?? ["Markets", marketsPage];
  document.title = `${title} · Oddwire`;
  for (const link of document.querySelectorAll("nav a")) {
    link.toggleAttribute("aria-current", link.getAttribute("href") === `#/${name}`);
  }
  if (key === null) {
    const onKey = (given: string): void => {
      storeKey(given);
      show();
    };
    fill(content, keyForm(why, onKey));
    return;
  }
  const client = openClient(key);
  const context = { client, signal: left.signal, about: readAbout(client) };
  fill(content, page({ ...context, parameter: decodeURIComponent(parameter) }));
  scrollTo(0, 0);
}

async function readAbout(client: OddwireClient): Promise<About> {
  try {
    const { indexer, books } = await client.metrics();
    return { chainId: indexer.chain_id, hasBooks: books !== null };
  } catch {
    return { chainId: null, hasBooks: false };
  }
}

/** How the service is, at the top of every page. */
async function beat(): Promise<void> {
  const key = storedKey();
  if (key === null) return sendPulse("", "no key");
  try {
    const { indexer } = await openClient(key).metrics();
    const lag = indexer.lag_seconds;
    const isLive = lag !== null && lag <= 60 && (indexer.gaps ?? 0) === 0;
    const behind = lag === 0 ? "live" : `${duration(lag)} behind`;
    sendPulse(isLive ? "live" : "", `block ${indexer.indexed_block ?? "–"}, ${behind}`);
  } catch (thrown) {
    sendPulse("down", "not reachable");
    if (!(thrown instanceof OddwireError) || thrown.code !== "UNAUTHORIZED") return;
    forgetKey();
    show(thrown.message);
  }
}

function sendPulse(state: string, text: string): void {
  pulse.className = state;
  fill(pulse, text);
}

function elementOf(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}
