import { useState } from "preact/hooks";
import type { ConditionId, GetWallet, Market, Trade } from "../../../client/src/api.ts";
import { cents, count, dollars, short } from "../format/numbers.ts";
import { date } from "../format/times.ts";
import { ChainLink, FullId } from "../parts/hex.tsx";
import { Figures, Panel } from "../parts/panel.tsx";
import { Notice, Shown } from "../parts/states.tsx";
import { type Column, scrolling, TableHead } from "../parts/table-head.tsx";
import { paths } from "../routing/paths.ts";
import { orUnknown } from "../service/failure.ts";
import { learnQuestions } from "../service/market-names.ts";
import { client } from "../service/session.ts";
import { useResource } from "../service/use-resource.ts";
import { useStream } from "../service/use-stream.ts";
import { MatchTypes, TradeTable } from "../tape/trade-table.tsx";

const pageRows = 200;
const refreshMs = 30_000;

/** The trading of a wallet: totals, markets and live trades. */
export function WalletPage({ address }: { readonly address: string }) {
  const isAddress = /^0x[0-9a-f]{40}$/.test(address);
  const summary = useResource(
    isAddress ? `wallet ${address}` : null,
    async (using) => {
      const [{ known }, page] = await Promise.all([
        orUnknown(using.wallet(address)),
        using.trades(queryOf(address)).page(),
      ]);
      learnQuestions(page.data);
      return { wallet: known, trades: page.data, next: page.pagination.next_cursor };
    },
    { everyMs: refreshMs },
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
        {({ wallet, ...newest }) =>
          wallet === null ? (
            <Notice title="This wallet has not traded here">
              It appears as soon as one of its orders is filled.
            </Notice>
          ) : (
            <>
              <Totals wallet={wallet} />
              <WalletMarkets wallet={wallet} />
              <WalletTrades address={address} newest={newest} />
            </>
          )
        }
      </Shown>
    </>
  );
}

type Wallet = GetWallet["answer"]["data"];
type TradePage = { readonly trades: readonly Trade[]; readonly next: string | null };

const queryOf = (wallet: string) => ({ wallet, include: "market", limit: pageRows }) as const;

function Totals({ wallet }: { readonly wallet: Wallet }) {
  const about = wallet.truncated ? " at least" : "";
  return (
    <Figures
      of={[
        [`Volume${about}`, dollars(Number(wallet.volume_usd))],
        [`Trades${about}`, count(wallet.trades)],
        ["As maker", count(wallet.maker_trades)],
        [`Markets${about}`, count(wallet.markets)],
        ["First trade", date(wallet.first_trade_at_ms)],
        ["Last trade", date(wallet.last_trade_at_ms)],
      ]}
    />
  );
}

const marketsShown = 20;

const marketColumns: readonly Column[] = [
  ["Market"],
  ["Now", "right"],
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
        wallet.markets > rows.length
          ? `The ${rows.length} markets with the highest volume`
          : "Markets by volume"
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
                  <td class="right num">
                    {first === undefined ? "–" : `${first.outcome ?? ""} ${cents(first.price)}`}
                  </td>
                  <td class="right num">{dollars(Number(volume))}</td>
                  <td class="right num wide">{count(row.trades)}</td>
                  <td class="right num wide">{date(row.last_trade_at_ms)}</td>
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

function WalletTrades(props: { readonly address: string; readonly newest: TradePage }) {
  const { address, newest } = props;
  const [later, setLater] = useState<readonly Trade[]>([]);
  const [older, setOlder] = useState<TradePage | null>(null);
  useStream({ channel: { type: "trades", filter: { wallet: address } } }, (frames) => {
    const came = frames.flatMap((frame) => (frame.type === "event" ? [frame.data] : []));
    if (came.length > 0) setLater((before) => [...came.toReversed(), ...before].slice(0, pageRows));
  });
  // Trades up to `readSeq` are in the page that was read since, without those that a reorg has reverted.
  const readSeq = newest.trades[0]?.seq ?? 0;
  const coming = later.filter(({ seq }) => seq > readSeq);
  const all = [...coming, ...newest.trades, ...(older?.trades ?? [])];
  const trades = [...new Map(all.map((trade) => [trade.id, trade] as const)).values()];
  const { next } = older ?? newest;
  const readMore = async (cursor: string): Promise<void> => {
    const { data, pagination } = await client.value.trades(queryOf(address)).page(cursor);
    learnQuestions(data);
    // Includes the rows on the screen, because a later first page no longer reaches down to the older rows.
    setOlder({ trades: [...trades, ...data], next: pagination.next_cursor });
  };
  const tape = {
    trades,
    fresh: new Set(later.map(({ id }) => id)),
    reverted: new Set<string>(),
    finalizedSeq: 0,
  };
  const request = {
    title: "Trades of this wallet",
    path: "/v1/trades",
    query: queryOf(address),
    isBulk: true,
  };
  return (
    <Panel title="Trades" requests={[request]}>
      <TradeTable tape={tape} label="Trades of this wallet" hasMarket={true} hasDate={true} />
      {next !== null && (
        <button type="button" class="more" onClick={() => void readMore(next).catch(() => {})}>
          Older trades
        </button>
      )}
      <MatchTypes />
    </Panel>
  );
}
