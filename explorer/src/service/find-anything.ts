/** Finds what a text can mean: a market, a wallet, a transaction or an order. */

import { getName, groupMarkets } from "../format/group-markets.ts";
import { plural, short } from "../format/numbers.ts";
import { paths } from "../routing/paths.ts";
import { type Found, foundGroups, foundMarket } from "./found-markets.ts";
import { client } from "./session.ts";

const shownMax = 10;
const searchedMax = 30;

/** Returns everything that matches, best first; nothing if the service does not answer. */
export async function findAnything(text: string): Promise<readonly Found[]> {
  const hex = text.toLowerCase();
  if (/^0x[0-9a-f]{40}$/.test(hex)) return [getWallet(hex)];
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
    about: trades?.data.length === 0 ? "without trades" : "",
    detail: "",
  };
  const isOrder = order !== null && order.fills.length + order.cancellations.length > 0;
  return [
    ...market,
    ...(trades !== null && trades.data.length > 0 ? [transaction] : []),
    ...(isOrder
      ? [
          {
            kind: "order",
            path: paths.order(hash),
            title: short(hash),
            about: plural(order.fills.length, "fill"),
            detail: "",
          } as const,
        ]
      : []),
    ...(market.length === 0 && trades?.data.length === 0 && !isOrder ? [transaction] : []),
  ];
}

async function findMarket(id: string): Promise<readonly Found[]> {
  const market = await client.value.market(id).catch(() => null);
  return market === null ? [] : [foundMarket(market, getName(market))];
}

async function searchMarkets(search: string): Promise<readonly Found[]> {
  const query = { search, status: "all", include: "event", limit: searchedMax } as const;
  const page = await client.value
    .markets(query)
    .page()
    .catch(() => null);
  return foundGroups(groupMarkets(page?.data ?? []));
}

function getWallet(address: string): Found {
  return {
    kind: "wallet",
    path: paths.wallet(address),
    title: short(address),
    about: "",
    detail: "",
  };
}
