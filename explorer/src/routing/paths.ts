/** Addresses of the pages. */
const getPath = (page: string, id: string): string => `/${page}/${encodeURIComponent(id)}`;

export const paths = {
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
