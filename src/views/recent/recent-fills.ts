import { storeLimits } from "../../base/config/limits.ts";
import type { TokenId } from "../../base/ids.ts";
import { RecentlyAsked } from "../../base/recently-asked.ts";
import type { Delta } from "../../market/delta.ts";
import { type Fill, isTrade } from "../../market/fill.ts";
import { FinalView } from "../final-view.ts";

/** The newest final trades of some tokens, newest first; of all tokens when `tokenIds` is `null`. */
type List = {
  readonly tokenIds: readonly TokenId[] | null;
  readonly rows: readonly Fill[];
  /** The longest page that was asked for. */
  readonly size: number;
  /** Whether there are no older ones. */
  readonly isWhole: boolean;
};

/** Which trades a list is of. */
export type NewestOf = Pick<List, "tokenIds">;

/**
 * The newest final trades of those tokens that were asked for lately, kept up as blocks become
 * final, so that popular lists are read from the engine once. Bounded by rows in all; the list that
 * was put first goes first.
 */
export class RecentFills extends FinalView {
  readonly #lists = new Map<string, List>();
  readonly #asked = new RecentlyAsked();
  #rows = 0;

  /** The newest `limit` of them, or all there are; `null` when they must be read. */
  get(of: NewestOf, limit: number): readonly Fill[] | null {
    const list = this.#lists.get(keyOf(of));
    if (list === undefined || (list.rows.length < limit && !list.isWhole)) return null;
    return list.rows.slice(0, limit);
  }

  /** Keeps what was just read, when it was asked for before: the newest `limit` `rows`, or all there are. */
  put({ tokenIds }: NewestOf, rows: readonly Fill[], limit: number): void {
    if (!this.#asked.ask(keyOf({ tokenIds }))) return;
    this.#set({ tokenIds, rows, size: limit, isWhole: rows.length < limit });
    for (const [key, { rows: oldest }] of this.#lists) {
      if (this.#rows <= storeLimits.newestFillsMax) return;
      this.#lists.delete(key);
      this.#rows -= oldest.length;
    }
  }

  /** Lists are read when they are asked for. */
  override async load(): Promise<void> {}

  /** The fills of a stored range are in the engine only: lists that they belong to are read again. */
  protected override take({ block, candles }: Delta): void {
    if (block === null) this.#forget(new Set(candles.map(({ tokenId }) => tokenId)));
    else this.#add(block.fills);
  }

  #add(fills: readonly Fill[]): void {
    const trades = fills.filter(isTrade).toReversed();
    const byToken = Map.groupBy(trades, (fill) => fill.tokenId);
    for (const list of this.#lists.values()) {
      const added = list.tokenIds === null ? trades : mergeOf(list.tokenIds, byToken);
      if (added.length > 0) this.#set(extended(list, added));
    }
  }

  #forget(tokenIds: ReadonlySet<TokenId>): void {
    if (tokenIds.size === 0) return;
    for (const [key, list] of this.#lists) {
      if (list.tokenIds !== null && !list.tokenIds.some((id) => tokenIds.has(id))) continue;
      this.#lists.delete(key);
      this.#rows -= list.rows.length;
    }
  }

  #set(list: List): void {
    const key = keyOf(list);
    this.#rows += list.rows.length - (this.#lists.get(key)?.rows.length ?? 0);
    this.#lists.set(key, list);
  }
}

function extended(list: List, added: readonly Fill[]): List {
  const rows = [...added, ...list.rows];
  const isWhole = list.isWhole && rows.length <= list.size;
  return { ...list, rows: rows.slice(0, list.size), isWhole };
}

/** Newest first, as each token's own are. */
function mergeOf(
  tokenIds: readonly TokenId[],
  byToken: ReadonlyMap<TokenId, readonly Fill[]>,
): readonly Fill[] {
  const rows = tokenIds.flatMap((tokenId) => byToken.get(tokenId) ?? []);
  return tokenIds.length === 1 ? rows : rows.toSorted((a, b) => b.seq - a.seq);
}

function keyOf({ tokenIds }: NewestOf): string {
  return tokenIds?.join(",") ?? "";
}
