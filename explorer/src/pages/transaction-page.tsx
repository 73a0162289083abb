import type { Fill, Match, Trade } from "../../../client/src/api.ts";
import type { OddwireClient } from "../../../client/src/client.ts";
import { cents, exact, exactDollars, plural } from "../format/numbers.ts";
import { fullTime } from "../format/times.ts";
import { ChainLink, FullId, Order, Wallet } from "../parts/hex.tsx";
import { Facts, Panel } from "../parts/panel.tsx";
import { Notice, Shown } from "../parts/states.tsx";
import { metrics } from "../service/session.ts";
import { useResource } from "../service/use-resource.ts";
import { FillTable } from "../tape/fill-table.tsx";
import { MatchTypes, TradeTable } from "../tape/trade-table.tsx";

const rowsMax = 500;
const refreshMs = 10_000;

type Contents = {
  readonly trades: readonly Trade[];
  readonly matches: readonly Match[];
  readonly fills: readonly Fill[];
  readonly others: readonly { readonly name: string; readonly logIndex: number }[];
  readonly blockNumber: number | null;
  readonly atMs: number | null;
};

/** Everything that one transaction did here. */
export function TransactionPage({ hash }: { readonly hash: string }) {
  const isHash = /^0x[0-9a-f]{64}$/.test(hash);
  const contents = useResource(
    isHash ? `transaction ${hash}` : null,
    async (using) => readContents(using, hash),
    { everyMs: refreshMs },
  );
  const query = { tx_hash: hash, limit: rowsMax };
  const requests = [
    "trades",
    "matches",
    "fills",
    "exchange-events",
    "cancellations",
    "resolutions",
  ];
  if (!isHash) {
    return (
      <>
        <h1 class="loading">Transaction</h1>
        <Notice title="This is not the hash of a transaction">
          A hash has 64 hexadecimal digits after 0x.
        </Notice>
      </>
    );
  }
  return (
    <>
      <div class="page-head">
        <h1>Transaction</h1>
        <p>
          <FullId id={hash} label="transaction hash" />{" "}
          <ChainLink kind="tx" id={hash}>
            Chain explorer
          </ChainLink>
        </p>
      </div>
      <Shown of={contents} what="transaction">
        {(data) =>
          data.blockNumber === null ? (
            <Notice title="Nothing of this transaction is known here">
              It has no event of the exchanges in the indexed blocks, or it is not in a block yet.
              This page looks again every few seconds.
            </Notice>
          ) : (
            <Panel
              title={summaryOf(data)}
              requests={requests.map((list) => ({ title: list, path: `/v1/${list}`, query }))}
            >
              <ContentsView data={data} />
            </Panel>
          )
        }
      </Shown>
    </>
  );
}

function ContentsView({ data }: { readonly data: Contents }) {
  const { trades, matches, fills, others, blockNumber, atMs } = data;
  const finalized = metrics.value?.indexer.finalized_block ?? null;
  const isFinal = finalized !== null && blockNumber !== null && blockNumber <= finalized;
  const tape = {
    trades,
    fresh: new Set<string>(),
    reverted: new Set<string>(),
    finalizedSeq: isFinal ? Number.MAX_SAFE_INTEGER : 0,
  };
  return (
    <>
      <Facts
        of={[
          ["Block", blockNumber === null ? "–" : String(blockNumber)],
          ["Time", atMs === null ? "–" : fullTime(atMs)],
          [
            "Finality",
            isFinal ? "final, it can never be reverted" : "confirmed, final in a moment",
          ],
        ]}
      />
      {matches.map((match) => (
        <MatchText key={match.id} match={match} />
      ))}
      {trades.length > 0 && (
        <>
          <h3>Trades</h3>
          <p class="dim">Volume is counted here, once for each maker.</p>
          <TradeTable tape={tape} label="Trades of this transaction" hasMarket={true} />
          <MatchTypes />
        </>
      )}
      {fills.length > 0 && (
        <>
          <h3>Orders filled</h3>
          <p class="dim">Each order of the transaction, with what its owner paid and got.</p>
          <FillTable fills={fills} label="Orders filled in this transaction" />
        </>
      )}
      {others.length > 0 && (
        <>
          <h3>Other events</h3>
          <ul>
            {others.map(({ name, logIndex }) => (
              <li key={logIndex}>
                {name} <span class="dim">log {logIndex}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** A match in a sentence. */
function MatchText({ match }: { readonly match: Match }) {
  const { side, size, outcome, price, value_usd: value, legs } = match;
  return (
    <p class="sentence">
      <Wallet address={match.taker} /> {side === "BUY" ? "bought" : "sold"}{" "}
      <b>
        {exact(size)} shares of {outcome ?? "an unknown outcome"}
      </b>{" "}
      at {cents(price)} on average for <b>{exactDollars(value)}</b>, matched with{" "}
      {plural(legs, "order")}. Order <Order hash={match.taker_order_hash} />
    </p>
  );
}

function summaryOf({ trades, fills, others }: Contents): string {
  const parts = [
    ...(trades.length === 0 ? [] : [plural(trades.length, "trade")]),
    ...(fills.length === 0 ? [] : [plural(fills.length, "filled order")]),
    ...(others.length === 0 ? [] : [plural(others.length, "other event")]),
  ];
  return parts.join(", ");
}

async function readContents(using: OddwireClient, hash: string): Promise<Contents> {
  const query = { tx_hash: hash, limit: rowsMax } as const;
  const [trades, matches, fills, events, cancellations, resolutions] = await Promise.all([
    using.trades(query).page(),
    using.matches(query).page(),
    using.fills(query).page(),
    using.exchangeEvents(query).page(),
    using.cancellations(query).page(),
    using.resolutions(query).page(),
  ]);
  const others = [
    ...events.data.map((event) => ({ name: wordsOf(event.kind), logIndex: event.log_index })),
    ...cancellations.data.map((event) => ({
      name: wordsOf(event.kind),
      logIndex: event.log_index,
    })),
    ...resolutions.data.map((event) => ({
      name: `market resolved: ${event.winning_outcome ?? event.payouts.join(" / ")}`,
      logIndex: event.log_index,
    })),
  ].toSorted((a, b) => a.logIndex - b.logIndex);
  const first =
    fills.data[0] ?? events.data[0] ?? cancellations.data[0] ?? resolutions.data[0] ?? null;
  return {
    trades: trades.data.toReversed(),
    matches: matches.data.toReversed(),
    fills: fills.data.toReversed(),
    others,
    blockNumber: first?.block_number ?? null,
    atMs: first?.timestamp_ms ?? null,
  };
}

function wordsOf(kind: string): string {
  return kind.replaceAll("_", " ");
}
