import type { ConditionId, GetWallet, Market } from "../../../clients/typescript/src/api.ts";
import {
  cents,
  count,
  dollars,
  exact,
  exactDollars,
  gain,
  getTone,
  short,
} from "../format/numbers.ts";
import { ChainLink, FullId } from "../parts/hex.tsx";
import { LiveState } from "../parts/live-state.tsx";
import { Figures, Panel } from "../parts/panel.tsx";
import { Notice, Shown } from "../parts/states.tsx";
import { type Column, scrolling, TableHead } from "../parts/table-head.tsx";
import { Segments } from "../parts/tabs.tsx";
import { Time } from "../parts/time.tsx";
import { getChoice, setParameters } from "../routing/location.ts";
import { paths } from "../routing/paths.ts";
import { orUnknown } from "../service/failure.ts";
import { useResource } from "../service/use-resource.ts";
import type { LiveState as StreamState } from "../service/use-stream.ts";
import { LiveTape } from "../tape/live-tape.tsx";
import { ActivityPanel } from "../wallet/activity-panel.tsx";
import { PositionsPanel } from "../wallet/positions-panel.tsx";
import { ProfitPanel } from "../wallet/profit-panel.tsx";
import { useWalletChanges } from "../wallet/use-wallet-changes.ts";

const refreshMs = 30_000;
const tabs = ["Positions", "Activity", "Trades", "Markets"] as const;

/** A wallet: totals, profit over time, and its positions, activity, trades and markets, live. */
export function WalletPage({ address }: { readonly address: string }) {
  const isAddress = /^0x[0-9a-f]{40}$/.test(address);
  const { version, state } = useWalletChanges(isAddress ? address : null);
  const summary = useResource(
    isAddress ? `wallet ${address}` : null,
    async (using) => orUnknown(using.wallet(address)),
    { everyMs: refreshMs, version },
  );
  if (!isAddress) {
    return (
      <>
        <h1 class="loading">Wallet</h1>
        <Notice title="This is not the address of a wallet">
          An address has 40 hexadecimal digits after 0x.
        </Notice>
      </>
    );
  }
  return (
    <>
      <div class="page-head">
        <h1>Wallet {short(address)}</h1>
        <p>
          <FullId id={address} label="address" />{" "}
          <ChainLink kind="address" id={address}>
            Chain explorer
          </ChainLink>
        </p>
      </div>
      <Shown of={summary} what="wallet">
        {({ known: wallet, reason }) =>
          wallet === null ? (
            <>
              <Notice title={reason}>Its trades are below, as soon as there are any.</Notice>
              <WalletTrades address={address} />
            </>
          ) : wallet.kind === "contract" && wallet.positions_total === 0 ? (
            <>
              <Notice title={`This is a contract: ${(wallet.label ?? "").replaceAll("_", " ")}`}>
                It passes tokens on and has no positions of its own.
              </Notice>
              <WalletTrades address={address} />
            </>
          ) : (
            <>
              <Totals wallet={wallet} />
              <ProfitPanel address={address} firstMs={wallet.first_seen_ms} />
              <WalletTabs wallet={wallet} version={version} state={state} />
            </>
          )
        }
      </Shown>
    </>
  );
}

type Wallet = GetWallet["answer"]["data"];

function WalletTabs(props: {
  readonly wallet: Wallet;
  readonly version: number;
  readonly state: StreamState;
}) {
  const { wallet, version, state } = props;
  const { address } = wallet;
  const tab = getChoice("tab", tabs);
  return (
    <>
      <div class="row tabs-bar">
        <Segments
          label="Part of the page"
          words={tabs}
          chosen={tab}
          onChoose={(next) => setParameters({ tab: next === "Positions" ? null : next })}
        />
        {tab !== "Trades" && tab !== "Markets" && <LiveState state={state} />}
      </div>
      {tab === "Positions" && <PositionsPanel address={address} version={version} />}
      {tab === "Activity" && <ActivityPanel address={address} version={version} />}
      {tab === "Trades" && <WalletTrades address={address} />}
      {tab === "Markets" && <WalletMarkets wallet={wallet} />}
    </>
  );
}

function Totals({ wallet }: { readonly wallet: Wallet }) {
  const { first_seen_ms: firstMs, last_active_ms: lastMs, total_pnl: profit } = wallet;
  const known = wallet.cost_complete ? "" : "Only of shares whose cost is known";
  const redeemable = Number(wallet.redeemable_usd ?? 0);
  const worth = [
    ["Profit", <span class={getTone(profit)}>{gain(profit)}</span>, known],
    ["Realized", gain(wallet.realized_pnl)],
    ["Unrealized", gain(wallet.unrealized_pnl)],
    ["Value", dollars(wallet.value_usd)],
  ] as const;
  return (
    <>
      <Figures
        of={[
          ...(profit === null ? [] : worth),
          ...(redeemable > 0 ? ([["Redeemable", dollars(redeemable)]] as const) : []),
          ["Volume", dollars(wallet.volume_usd), exactDollars(wallet.volume_usd)],
          ["Trades", count(wallet.trades), `${exact(wallet.maker_trades)} as maker`],
          ["Markets", count(wallet.markets)],
          ["First seen", <Time at={firstMs} form="date" />],
          ["Last active", <Time at={lastMs} form="date" />],
        ]}
      />
      {!wallet.complete && (
        <p class="dim note">
          {count(wallet.positions_incomplete)} of its positions are of markets older than the first
          indexed block: what it holds and earned there is not known, and not in these figures.
        </p>
      )}
    </>
  );
}

const marketsShown = 20;

const marketColumns: readonly Column[] = [
  ["Market"],
  ["Current price", "now right"],
  ["Volume", "right"],
  ["Trades", "right wide"],
  ["Last trade", "right wide"],
];

/** The markets of the wallet, the one with the highest volume first. */
function WalletMarkets({ wallet }: { readonly wallet: Wallet }) {
  const rows = wallet.top_markets.slice(0, marketsShown);
  const prices = useFirstPrices(rows.flatMap(({ condition_id: id }) => id ?? []));
  const request = { title: "Wallet", path: `/v1/wallets/${wallet.address}` };
  return (
    <Panel
      title={
        wallet.markets > rows.length ? `Top ${rows.length} markets by volume` : "Markets by volume"
      }
      requests={[request]}
    >
      <div {...scrolling("Markets of this wallet")}>
        <table aria-label="Markets of this wallet">
          <TableHead columns={marketColumns} />
          <tbody>
            {rows.map(({ condition_id: id, question, volume_usd: volume, ...row }) => {
              const first = prices.get(id ?? "");
              return (
                <tr key={id}>
                  <td class="name">
                    {id === null ? (
                      <span class="dim">unknown market</span>
                    ) : (
                      <a href={paths.market(id)}>{question ?? short(id)}</a>
                    )}
                  </td>
                  <td class="now right num">
                    {first === undefined ? "–" : `${first.outcome ?? ""} ${cents(first.price)}`}
                  </td>
                  <td class="right num">{dollars(Number(volume))}</td>
                  <td class="right num wide">{count(row.trades)}</td>
                  <td class="right num wide">
                    <Time at={row.last_trade_at_ms} />
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

type Token = Market["tokens"][number];

/** The first outcome of each market, with its price. */
function useFirstPrices(ids: readonly ConditionId[]): ReadonlyMap<ConditionId, Token> {
  const name = ids.length === 0 ? null : `markets ${ids.join()}`;
  const { data } = useResource(name, async (using) => {
    return (await using.markets({ condition_id: ids, status: "all", limit: marketsShown }).page())
      .data;
  });
  return new Map((data ?? []).flatMap(({ id, tokens: [first] }) => (first ? [[id, first]] : [])));
}

function WalletTrades({ address }: { readonly address: string }) {
  const channel = { type: "trades", filter: { wallet: address } } as const;
  const request = {
    title: "Trades of this wallet",
    path: "/v1/trades",
    query: { wallet: address, include: "market", limit: 100 },
    isBulk: true,
  };
  return (
    <Panel title="Trades" requests={[request]}>
      <LiveTape
        channel={channel}
        hasMarket={true}
        label="Trades of this wallet, newest first"
        emptyText="No trades yet"
      />
    </Panel>
  );
}
