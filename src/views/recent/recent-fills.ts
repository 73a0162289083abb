import { storeLimits } from "../../base/config/limits.ts";
import type { TokenId } from "../../base/ids.ts";
import { RecentRequests } from "../../base/recent-requests.ts";
import type { Delta } from "../../market/delta.ts";
import { type Fill, isTrade } from "../../market/fill.ts";
import { FinalView } from "../final-view.ts";

/** The newest final trades of some tokens, newest first; of all tokens when `tokenIds` is `null`. */
type List = {
  readonly tokenIds: readonly TokenId[] | null;
  readonly rows: readonly Fill[];
  /** The limit of the longest page that was read. Rows beyond it are dropped. */
  readonly size: number;
  /** Whether there are no older trades. */
  readonly isWhole: boolean;
};

/** Identifies a list by the tokens whose trades it has. */
export type RecentFillsKey = Pick<List, "tokenIds">;

/**
 * The newest final trades of recently requested tokens. The trades of blocks that become final are added,
 * so that popular lists are read from the engine only once. The total number of rows is bounded: the list
 * that was added first is evicted first.
 */
export class RecentFills extends FinalView {
  readonly #lists = new Map<string, List>();
  readonly #recentRequests = new RecentRequests();
  #rows = 0;

  /** Returns the newest `limit` trades, or all there are; `null` when they must be read from the engine. */
  get(key: RecentFillsKey, limit: number): readonly Fill[] | null {
    const list = this.#lists.get(keyOf(key));
    if (list === undefined || (list.rows.length < limit && !list.isWhole)) return null;
    return list.rows.slice(0, limit);
  }

  /** Keeps rows that were just read, if they were requested before: the newest `limit`, or all there are. */
  put({ tokenIds }: RecentFillsKey, rows: readonly Fill[], limit: number): void {
    if (!this.#recentRequests.isRepeat(keyOf({ tokenIds }))) return;
    this.#set({ tokenIds, rows, size: limit, isWhole: rows.length < limit });
    for (const [key, { rows: oldest }] of this.#lists) {
      if (this.#rows <= storeLimits.newestFillsMax) return;
      this.#lists.delete(key);
      this.#rows -= oldest.length;
    }
  }

  /** Loads nothing: lists are read when they are requested. */
  override async load(): Promise<void> {}

  /** Adds the fills of a block. Those of a stored range are only in the engine: their lists must be read again. */
  protected override applyFinal({ block, candles }: Delta): void {
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

/** Merges the trades of some tokens, newest first. Those of each token are in this order. */
function mergeOf(
  tokenIds: readonly TokenId[],
  byToken: ReadonlyMap<TokenId, readonly Fill[]>,
): readonly Fill[] {
  const rows = tokenIds.flatMap((tokenId) => byToken.get(tokenId) ?? []);
  return tokenIds.length === 1 ? rows : rows.toSorted((a, b) => b.seq - a.seq);
}

function keyOf({ tokenIds }: RecentFillsKey): string {
  return tokenIds?.join(",") ?? "";
}
