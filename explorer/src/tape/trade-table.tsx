import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Trade } from "../../../clients/typescript/src/api.ts";
import { cents, exact, exactDollars, short } from "../format/numbers.ts";
import { date, timeOfDay, timeTooltip } from "../format/times.ts";
import { Transaction, Wallet } from "../parts/hex.tsx";
import { type Column, scrolling, TableHead } from "../parts/table-head.tsx";
import { paths } from "../routing/paths.ts";
import { useQuestions } from "../service/market-names.ts";
import { matchTypes } from "./match-meanings.ts";
import type { Tape } from "./use-tape.ts";

const columns: readonly Column[] = [
  ["Time", "time"],
  ["Market", "name"],
  ["Trade", "trade"],
  ["Price", "price right"],
  ["Shares", "shares right"],
  ["Value", "value right"],
  ["Taker", "wallet extra"],
  ["Maker", "wallet extra"],
  ["Match", "match extra"],
  ["Transaction", "transaction"],
];

const largeTradeUsd = 1000;

/** The rows drawn at first, more than the visible part has. Each change repaints all rows, even those out of sight. */
const rowsAtFirst = 24;

/** The trades of a table, and what is known of them. */
type Shown = Omit<Tape, "hasOlder">;

/** A table of trades, newest first. Days other than today have a heading. */
export function TradeTable(props: {
  readonly tape: Shown;
  readonly label: string;
  /** Shows the market of each trade. It is not needed if all trades are of one market. */
  readonly hasMarket: boolean;
  /** Shown at the end of the list. */
  readonly children?: ComponentChildren;
}) {
  const { tape, label, hasMarket } = props;
  const ids = hasMarket ? tape.trades.map(({ condition_id: id }) => id) : [];
  const questions = useQuestions(ids);
  const [end, isEndSeen] = useEndSeen();
  const rows = isEndSeen ? tape.trades : tape.trades.slice(0, rowsAtFirst);
  const today = date(Date.now());
  return (
    <div {...scrolling(label)}>
      <table class={`tape ${hasMarket ? "named" : ""}`} aria-label={label}>
        <TableHead columns={columns.filter(([name]) => hasMarket || name !== "Market")} />
        {getDays(rows).map(([day, trades]) => (
          <tbody key={day}>
            {day !== today && <DayRow day={day} />}
            {trades.map((trade) => (
              <TradeRow
                key={trade.id}
                trade={trade}
                tape={tape}
                question={hasMarket ? (questions.get(trade.condition_id ?? "") ?? null) : undefined}
              />
            ))}
          </tbody>
        ))}
      </table>
      <div ref={end} class="list-end" />
      {isEndSeen && props.children}
    </div>
  );
}

/** Returns the reference of the end of the list, and whether it has been on the screen. */
function useEndSeen(): readonly [RefObject<HTMLDivElement | null>, boolean] {
  const element = useRef<HTMLDivElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (element.current === null || isSeen) return;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [isSeen]);
  return [element, isSeen];
}

/** Groups trades by the viewer's days. */
function getDays(trades: readonly Trade[]): readonly (readonly [string, readonly Trade[]])[] {
  return [...Map.groupBy(trades, ({ timestamp_ms: atMs }) => date(atMs))];
}

/** Less than the fewest columns that are shown: a cell that reaches further would make columns of its own. */
const daySpan = 4;

function DayRow({ day }: { readonly day: string }) {
  return (
    <tr class="day">
      <th scope="rowgroup" colSpan={daySpan}>
        {day}
      </th>
    </tr>
  );
}

function TradeRow(props: {
  readonly trade: Trade;
  readonly tape: Shown;
  /** `undefined` where no market is shown. */
  readonly question: string | null | undefined;
}) {
  const { trade, tape, question } = props;
  const classes = getClass(trade, tape);
  const finality = getFinality(trade, tape);
  // A tape changes many times a second, but most rows do not. Preact does not compare an element that is the same
  // object.
  return useMemo(
    () => <DrawnRow {...{ trade, classes, finality, question }} />,
    [trade, classes, finality, question],
  );
}

function DrawnRow(props: {
  readonly trade: Trade;
  readonly classes: string;
  readonly finality: Finality;
  readonly question: string | null | undefined;
}) {
  const { trade, classes, finality, question } = props;
  const { side, outcome, size, price, timestamp_ms: atMs } = trade;
  const { word, meaning } = matchTypes[trade.match_type];
  return (
    <tr class={classes} data-id={trade.id}>
      <td class="time num nowrap" title={timeTooltip(atMs)}>
        <FinalityDot of={finality} />
        {timeOfDay(atMs)}
      </td>
      {question !== undefined && (
        <td class="name">
          <MarketLink trade={trade} question={question} />
        </td>
      )}
      <td class="trade" title={outcome ?? undefined}>
        <span class={side === "BUY" ? "up" : "down"}>{side === "BUY" ? "Buy" : "Sell"}</span>{" "}
        {outcome ?? "shares"}
      </td>
      <td class="price right num">{cents(price)}</td>
      <td class="shares right num">{exact(size)}</td>
      <td class="value right num strong">{exactDollars(trade.value_usd)}</td>
      <td class="extra">
        <Wallet address={trade.taker} />
      </td>
      <td class="extra">
        <Wallet address={trade.maker} />
      </td>
      <td class="extra">
        <abbr title={meaning}>{word}</abbr>
      </td>
      <td class="transaction">
        <Transaction hash={trade.tx_hash} />
      </td>
    </tr>
  );
}

function getClass({ id, value_usd: value }: Trade, { fresh, reverted }: Shown): string {
  return [
    reverted.has(id) ? "reverted" : fresh.has(id) ? "fresh" : "",
    Number(value) >= largeTradeUsd ? "large" : "",
  ].join(" ");
}

/** Whether a trade can still be reverted. */
type Finality = keyof typeof finalityTexts;

const finalityTexts = {
  final: "final",
  confirmed: "confirmed; final in a moment",
  reverted: "reverted by a reorganization of the chain",
} as const;

function getFinality({ id, status, seq }: Trade, { reverted, finalizedSeq }: Shown): Finality {
  if (reverted.has(id)) return "reverted";
  return status === "finalized" || seq <= finalizedSeq ? "final" : "confirmed";
}

function FinalityDot({ of: finality }: { readonly of: Finality }) {
  const text = finalityTexts[finality];
  return <span class={`finality ${finality}`} role="img" aria-label={text} title={text} />;
}

function MarketLink(props: { readonly trade: Trade; readonly question: string | null }) {
  const { trade, question } = props;
  const { condition_id: id, token_id: tokenId } = trade;
  if (id === null) return <span class="dim">unknown market of token {short(tokenId)}</span>;
  return (
    <a href={paths.market(id)} title={question ?? id}>
      {question ?? short(id)}
    </a>
  );
}

/** Explains the words of the column "Match" and the dots. */
export function MatchTypes() {
  return (
    <details class="meanings">
      <summary>What the matches and the dots mean</summary>
      <dl>
        {Object.values(matchTypes).map(({ word, meaning }) => (
          <div key={word}>
            <dt>{word}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
        <div>
          <dt>
            <span class="finality" role="img" aria-label="hollow dot" />
          </dt>
          <dd>In a block that the chain may still replace.</dd>
        </div>
        <div>
          <dt>
            <span class="finality final" role="img" aria-label="full dot" />
          </dt>
          <dd>Final: it can never be reverted.</dd>
        </div>
      </dl>
    </details>
  );
}
