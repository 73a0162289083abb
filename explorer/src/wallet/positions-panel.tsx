import type { Position } from "../../../clients/typescript/src/api.ts";
import { cents, count, dollars, exact, gain, getTone, short } from "../format/numbers.ts";
import { MoreRows } from "../parts/more-rows.tsx";
import { Panel } from "../parts/panel.tsx";
import { Notice, Shown } from "../parts/states.tsx";
import { type Column, scrolling, TableHead } from "../parts/table-head.tsx";
import { Segments } from "../parts/tabs.tsx";
import { getChoice, setParameters } from "../routing/location.ts";
import { paths } from "../routing/paths.ts";
import { usePages } from "../service/use-pages.ts";
import type { WalletPart } from "./use-wallet-changes.ts";

/** Between changes of the wallet the prices move. */
const refreshMs = 15_000;
const statuses = ["open", "redeemable", "lost", "closed", "all"] as const;

const columns: readonly Column[] = [
  ["Market"],
  ["Shares", "right roomy"],
  ["Average price", "right roomy"],
  ["Price", "right roomy"],
  ["Value", "right"],
  ["Profit", "right"],
];

/** What a wallet holds, and what it made of it. */
export function PositionsPanel({ address, version }: WalletPart) {
  const status = getChoice("positions", statuses);
  const query = { status };
  const positions = usePages(
    `positions ${address} ${status}`,
    (using, limit) => using.positions(address, { status, limit }),
    { everyMs: refreshMs, version },
  );
  const path = `/v1/wallets/${address}/positions`;
  return (
    <Panel
      title="Positions"
      requests={[{ title: "Positions", path, query, isBulk: true }]}
      tools={
        <Segments
          label="Status"
          words={statuses}
          chosen={status}
          getName={(word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`}
          onChoose={(word) => setParameters({ positions: word === "open" ? null : word })}
        />
      }
    >
      <Shown of={positions} what="list of positions">
        {({ rows }) =>
          rows === null ? (
            <Notice title="This service does not follow positions" />
          ) : rows.length === 0 ? (
            <Notice title={`No ${status === "all" ? "" : `${status} `}positions`} />
          ) : (
            <>
              <PositionTable rows={rows} />
              <MoreRows of={positions} label="More positions" />
            </>
          )
        }
      </Shown>
    </Panel>
  );
}

/** Outcomes without a name are numbered, so that those of a market differ. */
function nameOutcome({ outcome_index: index }: Position): string {
  return index === null ? "shares" : `of Outcome ${index + 1}`;
}

function hasUnknownCost({ complete, cost_complete: isCostComplete }: Position): boolean {
  return complete && !isCostComplete;
}

function PositionTable({ rows }: { readonly rows: readonly Position[] }) {
  return (
    <div {...scrolling("Positions of this wallet")}>
      <table aria-label="Positions of this wallet">
        <TableHead columns={columns} />
        <tbody>
          {rows.map((row) => (
            <tr key={row.token_id}>
              <td class="name">
                {row.condition_id === null ? (
                  <span class="dim">unknown market of token {short(row.token_id)}</span>
                ) : (
                  <a href={paths.market(row.condition_id)}>
                    {row.question ?? short(row.condition_id)}
                  </a>
                )}
                <span class="sub">
                  {row.size !== null && `${count(row.size)} `}
                  {row.outcome ?? nameOutcome(row)}
                </span>
              </td>
              <td class="right num roomy">{exact(row.size)}</td>
              <td class="right num roomy">{cents(row.avg_price)}</td>
              <td class="right num roomy">{cents(row.price)}</td>
              <td class="right num">{dollars(row.value_usd)}</td>
              <td
                class={`right num ${getTone(row.total_pnl)}`}
                title={hasUnknownCost(row) ? "Only of shares whose cost is known" : ""}
              >
                {gain(row.total_pnl)}
                {hasUnknownCost(row) && " *"}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.some(hasUnknownCost) && (
        <p class="dim note">* Some shares came without a price: their cost is not known.</p>
      )}
    </div>
  );
}
