import type { GetTransaction, Match } from "../../../clients/typescript/src/api.ts";
import { cents, exact, exactDollars, plural } from "../format/numbers.ts";
import { ChainLink, FullId, Order, Wallet } from "../parts/hex.tsx";
import { Figures, Panel } from "../parts/panel.tsx";
import { Notice, Shown } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { orUnknown } from "../service/failure.ts";
import { useResource } from "../service/use-resource.ts";
import { FillTable } from "../tape/fill-table.tsx";
import { MatchTypes, TradeTable } from "../tape/trade-table.tsx";

const refreshMs = 10_000;

type Contents = GetTransaction["answer"]["data"];

/** Everything that the service knows of one transaction. */
export function TransactionPage({ hash }: { readonly hash: string }) {
  const isHash = /^0x[0-9a-f]{64}$/.test(hash);
  const contents = useResource(
    isHash ? `transaction ${hash}` : null,
    async (using) => orUnknown(using.transaction(hash)),
    { everyMs: refreshMs },
  );
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
        {({ known }) =>
          known === null ? (
            <Notice title="Nothing of this transaction is known here">
              It has no event of the exchanges in the indexed blocks, or it is not in a block yet.
              This page looks again every few seconds.
            </Notice>
          ) : (
            <Panel
              class="transaction-panel"
              title={getSummary(known)}
              requests={[{ title: "Transaction", path: `/v1/transactions/${hash}` }]}
            >
              <ContentsView data={known} />
            </Panel>
          )
        }
      </Shown>
    </>
  );
}

function ContentsView({ data }: { readonly data: Contents }) {
  const { trades, matches, fills } = data;
  const isFinal = data.status === "finalized";
  const tape = {
    trades,
    fresh: new Set<string>(),
    reverted: new Set<string>(),
    finalizedSeq: isFinal ? Number.MAX_SAFE_INTEGER : 0,
  };
  return (
    <>
      <Figures
        of={[
          ["Block", exact(data.block_number)],
          ["Time", <Time at={data.timestamp_ms} form="second" />],
          isFinal
            ? ["Finality", "Final", "It can never be reverted"]
            : ["Finality", "Confirmed", "Final in a moment"],
        ]}
      />
      {data.truncated && <p class="stale">It has more fills and events than this page lists.</p>}
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
          <FillTable
            fills={fills}
            matches={matches}
            label="Orders filled in this transaction"
            of="transaction"
          />
        </>
      )}
      <OtherEvents of={getOthers(data)} />
    </>
  );
}

function OtherEvents({ of }: { readonly of: readonly OtherEvent[] }) {
  if (of.length === 0) return null;
  return (
    <>
      <h3>Other events</h3>
      <ul>
        {of.map(({ name, logIndex }) => (
          <li key={logIndex}>
            {name} <span class="dim">log {logIndex}</span>
          </li>
        ))}
      </ul>
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

function getSummary(data: Contents): string {
  const parts: readonly (readonly [count: number, name: string])[] = [
    [data.trades.length, "trade"],
    [data.fills.length, "filled order"],
    [getOthers(data).length, "other event"],
  ];
  return parts.flatMap(([count, name]) => (count === 0 ? [] : [plural(count, name)])).join(", ");
}

type OtherEvent = { readonly name: string; readonly logIndex: number };

/** Returns the events of the transaction other than fills, in the order of its logs. */
function getOthers(data: Contents): readonly OtherEvent[] {
  const { resolutions, exchange_events: notices, other_events: events } = data;
  const named = [...notices, ...events].map(({ kind, log_index: logIndex }) => ({
    name: kind.replaceAll("_", " "),
    logIndex,
  }));
  const results = resolutions.map(({ winning_outcome: winner, payouts, log_index: logIndex }) => ({
    name: `market resolved: ${winner ?? payouts.join(" / ")}`,
    logIndex,
  }));
  return [...named, ...results].toSorted((a, b) => a.logIndex - b.logIndex);
}
