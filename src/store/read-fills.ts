import type { TokenId } from "../base/ids.ts";
import type { Fill } from "../market/fill.ts";
import type { FactStore } from "./fact-store.ts";
import { type FillFilter, filterHolds, filterSql } from "./fill-filter.ts";
import { enumCodes } from "./fill-layout.ts";
import type { NewestOf } from "./newest-fills.ts";
import { readCutFills, readStoredFills, readTokenFills } from "./stored-fills.ts";
import {
  type ListOrder,
  type Reach,
  readFinalRows,
  readRows,
  type StoredList,
} from "./stored-list.ts";
import type { Life } from "./token-steps.ts";

/** A list of fills: what passes `filter`, in the order of the chain or against it. */
export type FillList = ListOrder & {
  readonly filter: FillFilter;
  /** The trades of a token as of now, which makes finding them in a long history faster. */
  readonly lifeOf?: (tokenId: TokenId) => Life;
};

/** The first `limit` rows of a list. */
type FillPage = FillList & { readonly limit: number };

/** Where the rows of a list are. */
export function storedFills({ filter, lifeOf, ...order }: FillList): StoredList<Fill> {
  const { tokenIds = [] } = filter;
  return {
    ...(isFew(tokenIds) ? { byToken: byTokenOf(filter, lifeOf) } : {}),
    ...order,
    table: "fills",
    read: readStoredFills,
    sql: filterSql(filter),
    isOfTokens: tokenIds.length > 0,
    heldBy: (tail) => tail.fills(),
    holds: filterHolds(filter),
  };
}

function byTokenOf(
  filter: FillFilter,
  lifeOf: FillList["lifeOf"],
): NonNullable<StoredList<Fill>["byToken"]> {
  const { tokenIds = [], roles, seqFrom = 0, seqTo = endless } = filter;
  const { timestampFrom = 0, timestampTo = endless } = filter;
  // Lives are those of trades: what a taker paid for both tokens may be told of the other one.
  const areTrades = roles?.includes("taker") === false;
  const chosen = Object.keys(filter).every((name) => placeNames.has(name))
    ? (roles?.map((role) => enumCodes.role[role]) ?? null)
    : undefined;
  return [...new Set(tokenIds)].map((id) => ({
    readParts: async (reader, { span, ...page }) =>
      chosen === undefined
        ? null
        : readTokenFills(reader, { ...page, ...span, tokenId: id, roles: chosen }),
    sql: filterSql({ ...filter, tokenIds: [id] }),
    readCut: readCutFills,
    span: { from: seqFrom, to: seqTo },
    times: { firstTimestamp: timestampFrom, lastTimestamp: timestampTo - 1 },
    life: () => (areTrades && lifeOf !== undefined ? lifeOf(id) : null),
  }));
}

const endless = Number.MAX_SAFE_INTEGER;

/** Reads one page. */
export async function readFills(store: FactStore, page: FillPage): Promise<readonly Fill[]> {
  const { limit, ...list } = page;
  const newest = page.after === null && page.order === "desc" ? plainTrades(page.filter) : null;
  const rows = storedFills(list);
  return newest === null
    ? readRows(store, rows, { limit })
    : readRows(store, rows, {
        limit,
        readFinal: async (reach) => readNewest(store, rows, { ...reach, of: newest, size: limit }),
      });
}

/**
 * The newest final rows of a list that may be popular, which are kept. What is held now will be
 * final soon: of what has to be read a whole page is kept, of `size`.
 */
async function readNewest(
  store: FactStore,
  list: StoredList<Fill>,
  { of, size, boundary, limit }: Reach & { readonly of: NewestOf; readonly size: number },
): Promise<readonly Fill[]> {
  const kept = store.newestFills.get(of, limit);
  if (kept !== null) return kept;
  const { appends } = store;
  const rows = await readFinalRows(store, list, { boundary, limit: size });
  // An append in between has told of trades that these do not have.
  if (store.appends === appends) store.newestFills.put(of, rows, size);
  return rows.slice(0, limit);
}

/** What does not narrow a list down beyond its tokens. */
const plainNames: ReadonlySet<string> = new Set(["roles", "tokenIds", "mirroredTokenId"]);

/** And what narrows it down to a stretch of the chain. */
const placeNames: ReadonlySet<string> = new Set([
  ...plainNames,
  "seqFrom",
  "seqTo",
  "timestampFrom",
  "timestampTo",
]);

/** Which trades a filter asks for, when it asks for all of one or two tokens, or simply for all. */
function plainTrades(filter: FillFilter): NewestOf | null {
  const { roles, tokenIds = null } = filter;
  const areTrades = roles?.length === 2 && !roles.includes("taker");
  const areFew = tokenIds === null || isFew(tokenIds);
  const isPlain = areTrades && areFew && Object.keys(filter).every((name) => plainNames.has(name));
  return isPlain ? { tokenIds } : null;
}

/** A token or a pair. */
function isFew(tokenIds: readonly TokenId[]): boolean {
  return tokenIds.length > 0 && tokenIds.length <= 2;
}
