import { useState } from "preact/hooks";
import type { Market, TokenId, Trade } from "../../../client/src/api.ts";
import type { OddwireClient } from "../../../client/src/client.ts";
import { cents, count, dollars, exact, short } from "../format/numbers.ts";
import { date } from "../format/times.ts";
import { ChainLink, FullId } from "../parts/hex.tsx";
import { Figures, Panel } from "../parts/panel.tsx";
import { Notice, Shown } from "../parts/states.tsx";
import { type Column, scrolling, TableHead } from "../parts/table-head.tsx";
import { paths } from "../routing/paths.ts";
import { useMarkets } from "../service/market-names.ts";
import { client } from "../service/session.ts";
import { useResource } from "../service/use-resource.ts";
import { useStream } from "../service/use-stream.ts";
import { MatchTypes, TradeTable } from "../tape/trade-table.tsx";

const pageRows = 200;
/** Totals are summed over this many trades at most. */
const summedMax = 5000;
const summedPage = 1000;
const refreshMs = 30_000;

/** What a wallet traded: totals, its markets, its trades, live. */
export function WalletPage({ address }: { readonly address: string }) {
  const isAddress = /^0x[0-9a-f]{40}$/.test(address);
  const summary = useResource(
    isAddress ? `wallet ${address}` : null,
    async (using) => readSummary(using, address),
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
        {(data) =>
          data.trades.length === 0 ? (
            <Notice title="This wallet has not traded here">
              It appears as soon as one of its orders is filled.
            </Notice>
          ) : (
            <>
              <Totals data={data} />
              <WalletMarkets data={data} address={address} />
              <WalletTrades address={address} newest={data.trades.slice(0, pageRows)} />
            </>
          )
        }
      </Shown>
    </>
  );
}

type Summary = {
  /** Newest first; the newest of them when there are very many. */
  readonly trades: readonly Trade[];
  readonly isComplete: boolean;
  readonly firstMs: number | null;
};

async function readSummary(using: OddwireClient, wallet: string): Promise<Summary> {
  const trades: Trade[] = [];
  for await (const trade of using.trades({ wallet, limit: summedPage })) {
    trades.push(trade);
    if (trades.length >= summedMax) break;
  }
  const isComplete = trades.length < summedMax;
  if (isComplete) return { trades, isComplete, firstMs: trades.at(-1)?.timestamp_ms ?? null };
  const { data } = await using.trades({ wallet, order: "asc", limit: 1 }).page();
  return { trades, isComplete, firstMs: data[0]?.timestamp_ms ?? null };
}

function Totals({ data }: { readonly data: Summary }) {
  const { trades, isComplete, firstMs } = data;
  const volume = trades.reduce((sum, { value_usd: value }) => sum + Number(value), 0);
  const largest = trades.reduce((most, { value_usd: value }) => Math.max(most, Number(value)), 0);
  const markets = new Set(trades.map(({ condition_id: id }) => id)).size;
  const about = isComplete ? "" : `, newest ${count(summedMax)}`;
  return (
    <Figures
      of={[
        [`Volume${about}`, dollars(volume)],
        [`Trades${about}`, isComplete ? count(trades.length) : `${count(summedMax)}+`],
        [`Markets${about}`, count(markets)],
        ["Largest trade", dollars(largest)],
        ["First seen", date(firstMs)],
        ["Last seen", date(trades[0]?.timestamp_ms ?? null)],
      ]}
    />
  );
}

type MarketRow = {
  readonly id: string;
  readonly trades: number;
  readonly volumeUsd: number;
  /** Shares bought less shares sold, by token. */
  readonly net: ReadonlyMap<TokenId, number>;
  readonly spentUsd: number;
};

type Part = { readonly tokenId: TokenId; readonly shares: number; readonly usd: number };

/** What the wallet itself did in a trade: the maker of one may have traded the other outcome. */
function partOf(trade: Trade, address: string): Part {
  const isTaker = trade.taker === address;
  const tokenId = isTaker ? trade.token_id : trade.maker_token_id;
  const side = isTaker ? trade.side : trade.maker_side;
  const sign = side === "BUY" ? 1 : -1;
  const size = Number(trade.size);
  const value = Number(trade.value_usd);
  const usd = tokenId === trade.token_id ? value : size - value;
  return { tokenId, shares: sign * size, usd: sign * usd };
}

/** Net shares with the names of their outcomes: `120 Yes, −40 No`. */
function netText(net: ReadonlyMap<TokenId, number>, market: Market | undefined): string {
  const nameOf = (tokenId: TokenId): string =>
    market?.tokens.find(({ token_id: id }) => id === tokenId)?.outcome ?? short(tokenId);
  return [...net]
    .map(([tokenId, shares]) => `${exact(shares).replace("-", "−")} ${nameOf(tokenId)}`)
    .join(", ");
}

function rowsOf(trades: readonly Trade[], address: string): readonly MarketRow[] {
  const groups = Map.groupBy(trades, ({ condition_id: id }) => id ?? "");
  const rows = [...groups].map(([id, own]): MarketRow => {
    const net = new Map<string, number>();
    let spentUsd = 0;
    let volumeUsd = 0;
    for (const trade of own) {
      const { tokenId, shares, usd } = partOf(trade, address);
      net.set(tokenId, (net.get(tokenId) ?? 0) + shares);
      spentUsd += usd;
      volumeUsd += Number(trade.value_usd);
    }
    return { id, trades: own.length, volumeUsd, net, spentUsd };
  });
  return rows.toSorted((a, b) => b.volumeUsd - a.volumeUsd);
}

const marketsShown = 20;

const marketColumns: readonly Column[] = [
  ["Market"],
  ["Net shares"],
  ["Now", "right"],
  ["Net spent", "right"],
  ["Volume", "right"],
  ["Trades", "right"],
];

/** The markets of the wallet. Splits and redemptions are not trades, so this is not a position. */
function WalletMarkets({ data, address }: { readonly data: Summary; readonly address: string }) {
  const rows = rowsOf(data.trades, address).slice(0, marketsShown);
  const markets = useMarkets(rows.map(({ id }) => (id === "" ? null : id)));
  return (
    <Panel title="Markets by volume">
      <p class="dim">
        Net shares are bought less sold. Splits, merges and redemptions are not trades, so a
        position may differ.
      </p>
      <div {...scrolling("Markets of this wallet")}>
        <table aria-label="Markets of this wallet">
          <TableHead columns={marketColumns} />
          <tbody>
            {rows.map(({ id, trades, volumeUsd, net, spentUsd }) => {
              const market = markets.get(id);
              return (
                <tr key={id}>
                  <td class="name">
                    {id === "" ? (
                      <span class="dim">unknown markets</span>
                    ) : (
                      <a href={paths.market(id)}>{market?.question ?? short(id)}</a>
                    )}
                  </td>
                  <td class="num">{netText(net, market)}</td>
                  <td class="right num">
                    {market?.tokens[0] === undefined
                      ? "–"
                      : `${market.tokens[0].outcome ?? ""} ${cents(market.tokens[0].price)}`}
                  </td>
                  <td class="right num">
                    {spentUsd < 0 ? `−${dollars(-spentUsd)}` : dollars(spentUsd)}
                  </td>
                  <td class="right num">{dollars(volumeUsd)}</td>
                  <td class="right num">{count(trades)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function WalletTrades(props: { readonly address: string; readonly newest: readonly Trade[] }) {
  const { address, newest } = props;
  const [later, setLater] = useState<readonly Trade[]>([]);
  const [older, setOlder] = useState<readonly Trade[]>([]);
  useStream({ channel: { type: "trades", filter: { wallet: address } } }, (frames) => {
    const came = frames.flatMap((frame) => (frame.type === "event" ? [frame.data] : []));
    if (came.length > 0) setLater((before) => [...came.toReversed(), ...before].slice(0, pageRows));
  });
  const all = [...later, ...newest, ...older].map((trade) => [trade.id, trade] as const);
  const trades = [...new Map(all).values()];
  const last = trades.at(-1);
  const more = (): void => {
    if (last === undefined) return;
    const query = { wallet: address, to_block: last.block_number, limit: pageRows };
    void client.value
      .trades(query)
      .page()
      .then(
        ({ data }) => setOlder([...older, ...data]),
        () => {},
      );
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
    query: { wallet: address, limit: pageRows },
    isBulk: true,
  };
  return (
    <Panel title="Trades" requests={[request]}>
      <TradeTable tape={tape} label="Trades of this wallet" hasMarket={true} hasDate={true} />
      <button type="button" class="more" onClick={more}>
        Older trades
      </button>
      <MatchTypes />
    </Panel>
  );
}
