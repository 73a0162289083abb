import { type Static, Type } from "typebox";
import type { Address, TokenId } from "../../../../base/ids.ts";
import { amount } from "../../../../base/input/client-texts.ts";
import { invalid } from "../../../../base/input/compile-reader.ts";
import type { Supplies } from "../../../../market/ledger/circulating-shares.ts";
import type { Holder, HolderCount } from "../../../../market/ledger/holder.ts";
import { type ValuedPosition, valueShares } from "../../../../market/ledger/valued-position.ts";
import { getAllTokens, type Market } from "../../../../market/market.ts";
import { requireMarket } from "../../../../query/markets/read-markets.ts";
import { HolderPages, type HolderPosition } from "../../../../query/wallets/read-holders.ts";
import { readWallet, type WalletSources } from "../../../../query/wallets/read-wallet.ts";
import {
  type HolderRow,
  holderRow,
  outcomeHoldersShape,
  toHolderRow,
  toOutcomeHolders,
} from "../../../../rows/wallets/holder-row.ts";
import type { MarketDirectory } from "../../../../views/markets/market-directory.ts";
import { getExactPrice } from "../../../../views/prices/position-value.ts";
import { untilChange } from "../../../backend.ts";
import { listParameters } from "../../../bulk/bulk-format.ts";
import { type ListParts, listRoute, publicAs, type RowSource } from "../../../lists/row-list.ts";
import type { CursorPosition } from "../../../route/cursor.ts";
import { metaSchema } from "../../../route/list-answer.ts";
import type { Route } from "../../../route/route.ts";

const pageRows = 100;
/** Each profit is a fold of a wallet. */
const pnlRowsMax = 100;

const querystring = Type.Object({
  ...listParameters({ pageRows }),
  outcome_index: Type.Optional(Type.Integer({ minimum: 0, maximum: 255 })),
  min_size: Type.Optional(amount),
  include_contracts: Type.Boolean({ default: false }),
  include_pnl: Type.Boolean({ default: false }),
});
type HolderParameters = Static<typeof querystring>;

const meta = Type.Object({
  ...metaSchema.properties,
  complete: Type.Boolean(),
  outcomes: Type.Array(outcomeHoldersShape),
});

/** A holder; with `include_pnl` also its position, which is `null` for a contract without a ledger. */
type HolderItem = { readonly holder: Holder; readonly position?: ValuedPosition | null };

/** Lists who holds the outcomes of a market. */
export function listHolders(parts: ListParts): Route {
  const pages = new HolderPages(parts.facts, parts.state);
  return listRoute(parts, {
    needsWallets: true,
    path: "/v1/markets/{id}/holders",
    summary: "List holders of a market",
    description:
      "Who holds the outcomes of a market, the largest first. meta has the supply and the number of holders of each outcome",
    params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 200 }) }),
    querystring,
    pageRows,
    row: holderRow,
    meta,
    getCachePolicy: () => untilChange(parts),
    open: ({ params, query, path }) => {
      checkLimit(query);
      const { facts, state, cursors } = parts;
      const { directory } = state;
      const market = requireMarket(parts, params.id);
      const tokenIds = selectTokens(market, query);
      const complete = tokenIds.filter((id) => directory.isCompleteToken(id));
      const after = toHolderPosition(cursors.decode(path, query));
      const holderList = {
        tokenIds: complete,
        contracts: [...directory.contracts.byAddress.keys()],
        hasContracts: query.include_contracts,
        sizeMin: query.min_size ?? 1n,
      };
      const supplies = new Map(tokenIds.map((id) => [id, directory.getSupply(id)]));
      const toRow = (item: HolderItem) => getHolderRow(item, supplies, directory);
      let counts: readonly HolderCount[] = [];
      const read = async (limit: number) => {
        const page = await pages.read(holderList, { limit, after });
        counts = page.counts;
        return page.holders;
      };
      const toOutcome = (id: TokenId) => {
        const isComplete = complete.includes(id);
        const count = counts.find(({ tokenId }) => tokenId === id);
        return toOutcomeHolders(directory.getToken(id), supplies.get(id), { count, isComplete });
      };
      return {
        ...getSource(read, query.include_pnl ? { facts, directory } : null),
        writer: publicAs(toRow),
        getMeta: () => ({
          complete: complete.length === tokenIds.length,
          outcomes: tokenIds.map(toOutcome),
        }),
      };
    },
  });
}

function getHolderRow(item: HolderItem, supplies: Supplies, directory: MarketDirectory): HolderRow {
  const { tokenId, wallet, size } = item.holder;
  return toHolderRow({
    ...item,
    token: directory.getToken(tokenId),
    label: directory.contracts.byAddress.get(wallet)?.kind ?? null,
    supply: supplies.get(tokenId),
    value: valueShares(size, getExactPrice(tokenId, directory)),
  });
}

/** Throws `VALIDATION_ERROR` for more profits than one request reads. */
function checkLimit({
  include_pnl: hasPnl,
  format,
  limit = format === "json" ? pageRows : Infinity,
}: HolderParameters) {
  if (hasPnl && limit > pnlRowsMax)
    throw invalid("limit", `must be at most ${pnlRowsMax} with include_pnl`);
}

/**
 * Returns the tokens of the requested outcome, or of all, also those of the mirror. Throws `VALIDATION_ERROR` for an
 * outcome that the market has not.
 */
function selectTokens(
  market: Market,
  { outcome_index: index }: HolderParameters,
): readonly TokenId[] {
  const all = getAllTokens(market);
  const selected = all.filter(({ outcomeIndex }) => outcomeIndex === (index ?? outcomeIndex));
  if (selected.length > 0 || all.length === 0) return selected.map(({ tokenId }) => tokenId);
  const outcomes = market.tokens.map(({ outcome, outcomeIndex: at }) =>
    outcome === null ? at : `${at} (${outcome})`,
  );
  throw invalid("outcome_index", `is of no outcome of this market: it has ${outcomes.join(", ")}`);
}

function toHolderPosition(after: CursorPosition | null): HolderPosition | null {
  const [size = "", tokenId, wallet] = (after ?? []).map(String);
  return after && { size: BigInt(size), tokenId: tokenId as TokenId, wallet: wallet as Address };
}

function getSource(
  read: (limit: number) => Promise<readonly Holder[]>,
  sources: WalletSources | null,
): RowSource<HolderItem> {
  const first = async (count: number) => {
    const holders = await read(count);
    if (sources === null) return holders.map((holder) => ({ holder }));
    const items: HolderItem[] = [];
    for (const holder of holders) {
      const wallet = await readWallet(sources, holder.wallet);
      const position = wallet?.positions.find((one) => one.tokenId === holder.tokenId) ?? null;
      items.push({ holder, position });
    }
    return items;
  };
  return {
    first,
    toPosition: ({ holder }) => [String(holder.size), holder.tokenId, holder.wallet],
  };
}
