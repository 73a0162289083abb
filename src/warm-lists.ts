/**
 * Lists of markets that are made for nobody after a start. What V8 has not compiled yet takes many
 * times as long, a word that most of a million markets have is looked for longest the first time, and
 * memory that was never used costs more than filling it: whoever searches first, and everybody else
 * meanwhile, would wait for it.
 */
import { marketLimits } from "./base/limits.ts";
import { marketFlags } from "./market/market-columns.ts";
import { MarketList } from "./market/market-list.ts";
import { anyMarket, type MarketSelection } from "./market/market-members.ts";
import type { MarketState } from "./market/market-state.ts";
import { presentMarket } from "./rows/market-row.ts";

/** The words that came first have the common ones among them, and are few enough to look at. */
const wordsLookedAt = 2000;
/** Rarer ones, to compile everything with what is found quickly, and so many letters of them: all, or as typed. */
const rarerWords = 96;
const lettersTyped = [Infinity, 3, 2];
/** Lists of them that are held together: so many blocks of memory are there for the first searches. */
const listsHeld = 8;
const rowsShown = 10;
/** One after the other, so that what looks at them is compiled for all of them. */
const filters: readonly Partial<MarketSelection>[] = [
  {},
  { minVolume: 1, sort: "volume" },
  { createdFrom: 1, sort: "created_at" },
  { flags: { asked: marketFlags.resolved, wanted: 0 }, sort: "trades_24h" },
  { minDayVolume: 1 },
  { ends: { from: 1, before: Infinity }, sort: "end_date" },
  { minVolume: 1, createdFrom: 1, sort: "last_trade_at" },
];
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
  const { commonWordsMax } = marketLimits;
  const rarer = words.slice(0, -commonWordsMax);
  const step = Math.max(1, Math.ceil(rarer.length / rarerWords));
  const typed = rarer
    .filter((_, at) => at % step === 0)
    .map((word, at) => word.slice(0, lettersTyped[at % lettersTyped.length]));
  const chosen = [...typed, ...words.slice(-commonWordsMax)];
  const held: MarketList[] = [];
  for (const [at, word] of chosen.entries()) {
    yield;
    const others = chosen.slice(Math.max(0, at - 1), at);
    const isLast = at >= chosen.length - listsHeld;
    const filter = isLast ? {} : filters[at % filters.length];
    held.push(show(state, { ...filter, words: at % 2 === 0 ? [word] : [word, ...others] }));
    if (held.length > listsHeld) held.shift()?.release();
  }
  yield;
  held.push(show(state, {}));
  for (const list of held) list.release();
}

/** Makes a list and some rows of it, which is to be released. */
function show(state: MarketState, selection: Partial<MarketSelection>): MarketList {
  const { columns } = state.directory;
  const list = new MarketList(columns, { ...anyMarket, ...selection });
  for (const { conditionId } of list.page(null, { order: "desc", limit: rowsShown })) {
    const market = state.directory.market(conditionId);
    if (market !== null) presentMarket(market, state);
  }
  return list;
}
