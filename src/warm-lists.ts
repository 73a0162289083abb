/**
 * Lists of markets that are made for nobody after a start. What V8 has not compiled yet takes many
 * times as long, and a word that most of a million markets have is looked for longest the first
 * time: whoever searches first, and everybody else meanwhile, would wait for it.
 */
import { MarketList } from "./market/market-list.ts";
import { anyMarket } from "./market/market-members.ts";
import type { MarketState } from "./market/market-state.ts";
import { presentMarket } from "./rows/market-row.ts";

/** The words that came first have the common ones among them, and are few enough to look at. */
const wordsLookedAt = 2000;
/** Rarer ones, to compile everything with what is found quickly. */
const rarerWords = 96;
/** Common ones, which are remembered; half of what is. */
const commonWords = 32;
const rowsShown = 10;
/** Between two lists others have their turn. */
const pauseMs = 20;

/** Makes the lists one after the other, a few milliseconds each; what is returned ends it early. */
export function startWarmLists(state: MarketState): () => void {
  const lists = warmLists(state);
  const timer = setInterval(() => {
    if (lists.next().done === true) clearInterval(timer);
  }, pauseMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** The same, for whoever has the time: a list with each step. */
export function* warmLists(state: MarketState): Generator<void, void, void> {
  const { columns } = state.directory;
  const words = columns.search.usualWords(wordsLookedAt);
  const rarer = words.slice(0, -commonWords);
  const step = Math.max(1, Math.ceil(rarer.length / rarerWords));
  const chosen = [...rarer.filter((_, at) => at % step === 0), ...words.slice(-commonWords)];
  for (const [at, word] of chosen.entries()) {
    yield;
    const others = chosen.slice(Math.max(0, at - 1), at);
    show(state, at % 2 === 0 ? [word] : [word, ...others]);
  }
  yield;
  show(state, null);
}

function show(state: MarketState, words: readonly string[] | null): void {
  const { columns } = state.directory;
  const list = new MarketList(columns, { ...anyMarket, words });
  for (const { conditionId } of list.page(null, { order: "desc", limit: rowsShown })) {
    const market = state.directory.market(conditionId);
    if (market !== null) presentMarket(market, state);
  }
  list.release();
}
