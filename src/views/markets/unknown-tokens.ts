import { metadataLimits } from "../../base/config/venue-limits.ts";
import type { TokenId } from "../../base/ids.ts";
import { type Column, readId, writeId } from "../disk/column.ts";
import type { StateStore } from "../disk/state-store.ts";
import type { UndoLog } from "../disk/undo-log.ts";

type UnknownToken = { readonly tokenId: TokenId; readonly index: number };

/** Stands for a time that never comes: the condition of the token became known. Unix seconds. */
const never = 2 ** 32 - 1;

/**
 * The traded tokens whose condition was unknown at their first trade, and when each is to be looked up next. Saved and
 * reverted with the markets.
 */
export class UnknownTokens {
  readonly #journal: UndoLog;
  readonly #count: Column<"f64">;
  readonly #ids: Column<"u8">;
  readonly #dueAt: Column<"u32">;
  readonly #lookups: Column<"u8">;
  /** The tokens that `due` returned last, by id. */
  #pending = new Map<TokenId, number>();

  constructor(stateStore: StateStore) {
    this.#journal = stateStore.journal;
    this.#count = stateStore.column("unknown.count", "f64");
    this.#ids = stateStore.column("unknown.ids", "u8");
    this.#dueAt = stateStore.column("unknown.due_at", "u32");
    this.#lookups = stateStore.column("unknown.lookups", "u8");
  }

  /** How many tokens are waiting. A token whose condition became known counts until it is due. */
  get count(): number {
    const dueAt = this.#dueAt.values;
    let waiting = 0;
    for (let index = 0; index < this.#count.get(0); index += 1) {
      if ((dueAt[index] ?? 0) !== never) waiting += 1;
    }
    return waiting;
  }

  add(tokenId: TokenId): void {
    const index = this.#count.get(0);
    writeId(this.#ids, index, tokenId);
    this.#journal.setAt(this.#dueAt, index, 0);
    this.#journal.setAt(this.#lookups, index, 0);
    this.#journal.setAt(this.#count, 0, index + 1);
  }

  /** Returns up to `limit` tokens to look up, the newest first. */
  due(nowSeconds: number, limit: number, isKnown: (tokenId: TokenId) => boolean): TokenId[] {
    const dueAt = this.#dueAt.values;
    const found: UnknownToken[] = [];
    for (let index = this.#count.get(0) - 1; index >= 0 && found.length < limit; index -= 1) {
      if ((dueAt[index] ?? 0) > nowSeconds) continue;
      const tokenId = readId(this.#ids, index) as TokenId;
      if (isKnown(tokenId)) this.#setDueAt(index, never);
      else found.push({ tokenId, index });
    }
    this.#pending = new Map(found.map(({ tokenId, index }) => [tokenId, index]));
    return found.map(({ tokenId }) => tokenId);
  }

  /** Records that a token was looked up in vain. Its next lookup is due after a pause that doubles each time. */
  recordAbsent(tokenId: TokenId, nowSeconds: number): void {
    const index = this.#pending.get(tokenId);
    // A reorg can have reverted its first trade.
    if (index === undefined || index >= this.#count.get(0)) return;
    if (readId(this.#ids, index) !== tokenId) return;
    const { tokenPauseSecondsMin, tokenPauseSecondsMax } = metadataLimits;
    const lookups = this.#lookups.get(index);
    const pause = Math.min(tokenPauseSecondsMin * 2 ** lookups, tokenPauseSecondsMax);
    this.#setDueAt(index, nowSeconds + pause);
    this.#journal.amend(() => this.#journal.setAt(this.#lookups, index, Math.min(lookups + 1, 31)));
  }

  #setDueAt(index: number, seconds: number): void {
    this.#journal.amend(() => this.#journal.setAt(this.#dueAt, index, seconds));
  }
}
