import { Type } from "typebox";
import { address } from "../../../../base/input/client-texts.ts";
import { PositionSums } from "../../../../market/ledger/valued-position.ts";
import { WalletTotals } from "../../../../market/ledger/wallet-totals.ts";
import { readWallet, summarizeMarkets } from "../../../../query/wallets/read-wallet.ts";
import { toWalletRow, walletRow } from "../../../../rows/wallets/wallet-row.ts";
import { type Backend, untilChange } from "../../../backend.ts";
import { toObjectShape } from "../../../route/list-answer.ts";
import { defineRoute, type Route } from "../../../route/route.ts";
import { unknownWallet } from "./with-wallets.ts";

/** Returns what a wallet holds, earned and traded. */
export function getWallet(backend: Backend): Route {
  const { directory } = backend.state;
  return defineRoute({
    needsWallets: true,
    path: "/v1/wallets/{address}",
    summary: "Get a wallet",
    description: "What one wallet holds, earned and traded, in total and by market",
    params: Type.Object({ address }),
    response: toObjectShape(walletRow),
    cacheControl: "private, max-age=10",
    getCachePolicy: () => untilChange(backend),
    handler: async ({ params }) => {
      const wallet = await readWallet({ ...backend, directory }, params.address);
      // A contract that passes tokens on has no ledger.
      const isContract = directory.contracts.byAddress.has(params.address);
      if (wallet === null && !isContract) throw unknownWallet();
      const nothing = { positions: [], sums: new PositionSums(), totals: new WalletTotals() };
      const read = wallet ?? nothing;
      const facts = { ...params, ...read, ...(await summarizeMarkets(read, directory)) };
      return { data: toWalletRow(facts, directory.contracts) };
    },
  });
}
