/** Finds what a text can mean: a market, a wallet, a transaction or an order. */
import type { Market } from "../../../client/src/api.ts";
import { percent, short } from "../format/numbers.ts";
import { paths } from "../routing/paths.ts";
import { client } from "./session.ts";

/** A result: something that has a page. */
export type Found = {
  readonly kind: "market" | "wallet" | "transaction" | "order";
  readonly path: string;
  readonly title: string;
  readonly detail: string;
};

const shownMax = 8;

/** Returns everything that matches, best first; nothing if the service does not answer. */
export async function findAnything(text: string): Promise<readonly Found[]> {
  const hex = text.toLowerCase();
  if (/^0x[0-9a-f]{40}$/.test(hex)) return [walletOf(hex)];
  if (/^0x[0-9a-f]{62,64}$/.test(hex)) return findHash(hex);
  const searches = [searchMarkets(text)];
  if (/^\d{6,78}$/.test(text) || /^[a-z0-9]+(?:-[a-z0-9]+)+$/.test(text)) {
    searches.unshift(findMarket(text));
  }
  const found = (await Promise.all(searches)).flat();
  return [...new Map(found.map((one) => [one.path, one])).values()].slice(0, shownMax);
}

/** Finds a hash, which can belong to a market, a transaction or an order. */
async function findHash(hash: string): Promise<readonly Found[]> {
  const [market, trades, order] = await Promise.all([
    findMarket(hash),
    client.value
      .fills({ tx_hash: hash, limit: 1 })
      .page()
      .catch(() => null),
    client.value.order(hash).catch(() => null),
  ]);
  const transaction: Found = {
    kind: "transaction",
    path: paths.transaction(hash),
    title: short(hash),
    detail: trades?.data.length === 0 ? "without trades" : "",
  };
  const isOrder = order !== null && order.fills.length + order.cancellations.length > 0;
  return [
    ...market,
    ...(trades !== null && trades.data.length > 0 ? [transaction] : []),
    ...(isOrder
      ? [{ kind: "order", path: paths.order(hash), title: short(hash), detail: "" } as const]
      : []),
    ...(market.length === 0 && trades?.data.length === 0 && !isOrder ? [transaction] : []),
  ];
}

async function findMarket(id: string): Promise<readonly Found[]> {
  const market = await client.value.market(id).catch(() => null);
  return market === null ? [] : [foundMarket(market)];
}

async function searchMarkets(search: string): Promise<readonly Found[]> {
  const query = { search, status: "all", limit: shownMax } as const;
  const page = await client.value
    .markets(query)
    .page()
    .catch(() => null);
  return page?.data.map(foundMarket) ?? [];
}

function foundMarket({ id, question, status, tokens }: Market): Found {
  const price = percent(tokens[0]?.price);
  return {
    kind: "market",
    path: paths.market(id),
    title: question ?? short(id),
    detail: status === "open" ? price : "resolved",
  };
}

function walletOf(address: string): Found {
  return { kind: "wallet", path: paths.wallet(address), title: short(address), detail: "" };
}
