/** Pages and exports of market lists. A list stays as it was when its first page was requested. */
import type { ConditionId } from "../../base/ids.ts";
import type { Clock } from "../../base/time/clock.ts";
import { mapYielding, yieldToEventLoop } from "../../base/time/turns.ts";
import { searchMarkets } from "../../query/markets/read-markets.ts";
import type { ListedMarket, MarketList } from "../../views/markets/market-list.ts";
import type { Hits } from "../../views/search/market-search.ts";
import type { FileRows } from "../bulk/bulk-answers.ts";
import type { CursorPosition } from "../route/cursor.ts";
import { ListSnapshots } from "./list-snapshots.ts";
import { searchedWords } from "./market-parameters.ts";
import { firstRows, type ListParts, publicAs } from "./row-list.ts";

type NamedMarket = ListedMarket & { readonly name: string };

type ListedRow<Row> = { readonly market: NamedMarket; readonly row: Row };

/** A requested list, and how its rows are made. */
type MarketListing<Row> = {
  readonly path: string;
  readonly query: {
    readonly order: "asc" | "desc";
    readonly search?: string | undefined;
    readonly cursor?: string | undefined;
  };
  /** Opens the list, narrowed to the hits of a search if there is one. */
  readonly open: (hits: Hits | null) => MarketList;
  /** Returns the row of a market; `null` if a reorg has reverted it. */
  readonly present: (conditionId: ConditionId) => Row | null;
  /** Whether a market still has a row, to count those of a file. Absent if the list skips the ones that have none. */
  readonly isListed?: (conditionId: ConditionId) => boolean;
};

/** Reads a list after `edge`, the end of the previous page. */
type Read<Result> = (list: MarketList, edge: ListedMarket | null) => Result;

/** Markets read per turn. Each read scans the whole list, so this bounds the number of scans and keeps turns short. */
const rowsPerTurn = 1000;

export class MarketLists {
  readonly #parts: ListParts;
  readonly #snapshots: ListSnapshots<MarketList>;

  constructor(parts: ListParts, clock: Clock) {
    this.#parts = parts;
    this.#snapshots = new ListSnapshots(clock);
  }

  /** Returns the source of a list. Throws `INVALID_CURSOR`. */
  open<Row>(listing: MarketListing<Row>) {
    const start = this.#parts.cursors.decode(listing.path, listing.query);
    return {
      first: async (count: number) => this.#readRows(listing, start, count),
      toPosition: ({ market }: ListedRow<Row>) => toPosition(market),
      openAll: async (rowsMax: number) => this.#openAll(listing, start, rowsMax),
      writer: publicAs(({ row }: ListedRow<Row>) => row),
    };
  }

  /** Reads up to `limit` rows, which includes one more than the page has: it shows that a next page exists. */
  async #readRows<Row>(
    listing: MarketListing<Row>,
    start: CursorPosition | null,
    limit: number,
  ): Promise<readonly ListedRow<Row>[]> {
    const { order } = listing.query;
    const read: Read<ListedMarket[]> = (list, edge) => list.page(edge, { order, limit });
    const rows: ListedRow<Row>[] = [];
    for (let after = start; ; ) {
      const { name, result } = await this.#open(listing, { after, keepAbove: limit - 1 }, read);
      const markets = result.map((market) => ({ ...market, name }));
      rows.push(...(await toRows(listing, markets)));
      const last = markets.at(-1);
      const isEnd = last === undefined || markets.length < limit;
      if (isEnd || rows.length >= limit) return rows.slice(0, limit);
      // A page with fewer rows would look like the last one. Many markets can have none after a reorg.
      after = toPosition(last);
      await yieldToEventLoop();
    }
  }

  async #openAll<Row>(
    listing: MarketListing<Row>,
    after: CursorPosition | null,
    rowsMax: number,
  ): Promise<FileRows<ListedRow<Row>>> {
    const start = { after, keepAbove: Infinity };
    const { name, result } = await this.#open(listing, start, (list, edge) => {
      list.retain();
      return { list, edge };
    });
    const { list, edge } = result;
    const pages = async function* () {
      for (const markets of listedPages(listing, result, rowsPerTurn)) {
        yield markets.map((market): NamedMarket => ({ ...market, name }));
        await yieldToEventLoop();
      }
    };
    const chunks = async function* () {
      for await (const markets of firstRows(pages(), rowsMax)) yield toRows(listing, markets);
    };
    const isWhole = edge === null && list.length <= rowsMax;
    const end = isWhole ? { rowCount: list.length, edge: null } : await getEnd(pages(), rowsMax);
    return { ...end, chunks: chunks() };
  }

  /**
   * Reads a list after a position, and keeps it under a name if it has more than `keepAbove` rows. `read` runs in the turn
   * in which the list is found or opened, because any later turn can evict the list.
   */
  async #open<Row, Result>(
    { query, open }: MarketListing<Row>,
    { after, keepAbove }: { readonly after: CursorPosition | null; readonly keepAbove: number },
    read: Read<Result>,
  ): Promise<{ readonly name: string; readonly result: Result }> {
    const [name = "", ...keys] = after ?? [];
    const edge = keys.length === 0 ? null : toEdge(keys);
    const kept = this.#snapshots.get(String(name));
    if (kept !== null) return { name: String(name), result: read(kept, edge) };
    const words = query.search === undefined ? null : searchedWords(query.search);
    const hits = words === null ? null : await searchMarkets(this.#parts, words);
    const list = open(hits);
    const result = read(list, edge);
    const isKept = edge !== null || list.length > keepAbove;
    return { name: isKept ? this.#snapshots.put(list) : "", result };
  }
}

/** Yields the markets of a list after `edge`, read `limit` at a time, without markets that have no row any more. */
function* listedPages<Row>(
  { query: { order }, isListed = () => true }: MarketListing<Row>,
  { list, edge }: { readonly list: MarketList; readonly edge: ListedMarket | null },
  limit: number,
): Generator<ListedMarket[]> {
  for (let after = edge; ; ) {
    const markets = list.page(after, { order, limit });
    yield markets.filter(({ conditionId }) => isListed(conditionId));
    if (markets.length < limit) return;
    after = markets.at(-1) ?? null;
  }
}

async function toRows<Row>(
  { present }: MarketListing<Row>,
  markets: readonly NamedMarket[],
): Promise<readonly ListedRow<Row>[]> {
  const found = await mapYielding(markets, (market) => {
    const row = present(market.conditionId);
    return row === null ? null : { market, row };
  });
  return found.filter((one) => one !== null);
}

/** Counts up to `rowsMax` markets, and returns the position of the last of them if more follow. */
async function getEnd(pages: AsyncIterable<readonly NamedMarket[]>, rowsMax: number) {
  let count = 0;
  let last: NamedMarket | undefined;
  for await (const markets of pages) {
    last = markets[Math.min(markets.length, rowsMax - count) - 1] ?? last;
    count += markets.length;
    if (count > rowsMax && last !== undefined) return { rowCount: rowsMax, edge: toPosition(last) };
  }
  return { rowCount: count, edge: null };
}

function toPosition({ name, rank, key, conditionId }: NamedMarket): CursorPosition {
  return [name, rank, key, conditionId];
}

function toEdge([rank, key, conditionId]: CursorPosition): ListedMarket {
  return { rank: Number(rank), key: Number(key), conditionId: String(conditionId) as ConditionId };
}
