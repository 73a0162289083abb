import type { Fill, Match } from "../../../clients/typescript/src/api.ts";
import { exact, exactDollars, short } from "../format/numbers.ts";
import { Order, Transaction, Wallet } from "../parts/hex.tsx";
import { type Column, scrolling, TableHead } from "../parts/table-head.tsx";
import { Time } from "../parts/time.tsx";
import { paths } from "../routing/paths.ts";
import { useQuestions } from "../service/market-names.ts";
import { getFigures } from "./fill-figures.ts";

const columns: readonly Column[] = [
  ["Role"],
  ["Market"],
  ["Order"],
  ["Price", "right"],
  ["Shares", "right"],
  ["Value", "right"],
  ["Fee", "right"],
];

/** What the fills of a table have in common. The other columns depend on it. */
type Subject = "transaction" | "order";

const furtherColumns: Readonly<Record<Subject, readonly Column[]>> = {
  transaction: [["Owner"], ["Order id"]],
  order: [["Transaction"], ["Time"]],
};

const roles: Readonly<Record<Fill["role"], string>> = {
  maker: "An order that waited in the book",
  taker: "The order that came and was matched",
  direct: "An order filled without a match",
};

/** A table of `OrderFilled` events: each order with the amounts it gave and got. */
export function FillTable(props: {
  readonly fills: readonly Fill[];
  /** The matches of the fills, as far as they are known. */
  readonly matches: readonly Match[];
  readonly label: string;
  readonly of: Subject;
}) {
  const questions = useQuestions(props.fills.map(({ condition_id: id }) => id));
  return (
    <div {...scrolling(props.label)}>
      <table class="fills" aria-label={props.label}>
        <TableHead columns={[...columns, ...furtherColumns[props.of]]} />
        <tbody>
          {props.fills.map((fill) => (
            <FillRow
              key={fill.id}
              fill={fill}
              matches={props.matches}
              question={questions.get(fill.condition_id ?? "") ?? null}
              of={props.of}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function FillRow(props: {
  readonly fill: Fill;
  readonly matches: readonly Match[];
  readonly question: string | null;
  readonly of: Subject;
}) {
  const { fill, question } = props;
  const { usd, shares, price } = getFigures([fill], props.matches);
  const { condition_id: id, side, outcome, role } = fill;
  return (
    <tr>
      <td class="role">
        <abbr title={roles[role]}>{role}</abbr>
      </td>
      <td class="name">
        {id === null ? (
          <span class="dim">unknown market of token {short(fill.token_id)}</span>
        ) : (
          <a href={paths.market(id)}>{question ?? short(id)}</a>
        )}
      </td>
      <td class="trade">
        <span class={side === "BUY" ? "up" : "down"}>{side === "BUY" ? "Buy" : "Sell"}</span>{" "}
        {outcome ?? "shares"}
      </td>
      <td class="price right num">{price}</td>
      <td class="right num" data-name="Shares">
        {shares}
      </td>
      <td class="value right num strong">{usd}</td>
      <td class="right num nowrap" data-name="Fee">
        {Number(fill.fee) === 0
          ? "none"
          : fill.fee_asset === "collateral"
            ? exactDollars(fill.fee)
            : `${exact(fill.fee)} shares`}
      </td>
      {props.of === "transaction" ? (
        <>
          <td data-name="Owner">
            <Wallet address={fill.maker} />
          </td>
          <td data-name="Order">
            <Order hash={fill.order_hash} />
          </td>
        </>
      ) : (
        <>
          <td data-name="Transaction">
            <Transaction hash={fill.tx_hash} />
          </td>
          <td class="time num">
            <Time at={fill.timestamp_ms} />
          </td>
        </>
      )}
    </tr>
  );
}
