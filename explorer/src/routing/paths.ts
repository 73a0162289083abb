/** Addresses of the pages. */

/** The path of the service, which ends with a slash. A proxy can serve it below a path: this script is in its `assets/`. */
export const rootPath = new URL("../", import.meta.url).pathname;

const getPath = (page: string, id: string): string =>
  `${rootPath}${page}/${encodeURIComponent(id)}`;

const getList = (name: string, value: string): string =>
  `${rootPath}?${name}=${encodeURIComponent(value)}`;

export const paths = {
  markets: rootPath,
  trades: `${rootPath}trades`,
  status: `${rootPath}status`,
  keys: `${rootPath}keys`,
  reference: `${rootPath}docs`,
  category: (category: string): string => getList("category", category),
  tag: (tag: string): string => getList("tag", tag),
  search: (text: string): string => getList("search", text),
  market: (id: string): string => getPath("market", id),
  event: (id: string): string => getPath("event", id),
  wallet: (address: string): string => getPath("wallet", address),
  transaction: (hash: string): string => getPath("tx", hash),
  order: (hash: string): string => getPath("order", hash),
};

/** The public explorers, by chain id. A local chain has none. */
const explorerOfChain: Readonly<Record<number, string>> = { 137: "https://polygonscan.com" };

/** Returns the page of an address, a transaction or a block in the public explorer; `null` if there is none. */
export function chainPage(
  chainId: number | null,
  kind: "tx" | "address" | "block",
  id: string | number,
): string | null {
  const base = explorerOfChain[chainId ?? 0];
  return base === undefined ? null : `${base}/${kind}/${id}`;
}
