import type { Activity } from "../../../clients/typescript/src/api.ts";
import { cents, exact, gain, short } from "../format/numbers.ts";
import { ago, timeTooltip } from "../format/times.ts";
import { Transaction, Wallet } from "../parts/hex.tsx";
import { MoreRows } from "../parts/more-rows.tsx";
import { Panel } from "../parts/panel.tsx";
import { Notice, Shown } from "../parts/states.tsx";
import { type Column, scrolling, TableHead } from "../parts/table-head.tsx";
import { paths } from "../routing/paths.ts";
import { nowMs } from "../service/clock.ts";
import { usePages } from "../service/use-pages.ts";
import type { WalletPart } from "./use-wallet-changes.ts";

/** Names of markets can be learned later. */
const refreshMs = 60_000;

const columns: readonly Column[] = [
  ["Activity"],
  ["Market"],
  ["Shares", "right wide"],
  ["Price", "right wide"],
  ["Cash", "right"],
  ["With", "wide"],
  ["Transaction", "wide"],
];

const names: Readonly<Record<Activity["kind"], string>> = {
  trade: "Trade",
  fee_refund: "Fee refund",
  split: "Split",
  merge: "Merge",
  redeem: "Redeem",
  convert: "Convert",
  hsplit: "Horizontal split",
  hmerge: "Horizontal merge",
  wrap: "Wrap",
  unwrap: "Unwrap",
  compress: "Compress",
  migrate: "Migrate",
  transfer_in: "Received",
  transfer_out: "Sent",
};

/** Everything that changed the tokens of a wallet, newest first. */
export function ActivityPanel({ address, version }: WalletPart) {
  const activity = usePages(
    `activity ${address}`,
    (using, limit) => using.activity(address, { limit }),
    { everyMs: refreshMs, version },
  );
  const path = `/v1/wallets/${address}/activity`;
  return (
    <Panel title="Activity" requests={[{ title: "Activity", path, isBulk: true }]}>
      <Shown of={activity} what="list of activity">
        {({ rows }) =>
          rows === null ? (
            <Notice title="This service does not follow positions" />
          ) : rows.length === 0 ? (
            <Notice title="No activity yet" />
          ) : (
            <>
              <div {...scrolling("Activity of this wallet")}>
                <table aria-label="Activity of this wallet">
                  <TableHead columns={columns} />
                  <tbody>
                    {rows.map((row) => (
                      <ActivityRow key={row.id} row={row} />
                    ))}
                  </tbody>
                </table>
              </div>
              <MoreRows of={activity} label="More activity" />
            </>
          )
        }
      </Shown>
    </Panel>
  );
}

function ActivityRow({ row }: { readonly row: Activity }) {
  const [token] = row.tokens;
  return (
    <tr>
      <td class="nowrap">
        {row.side === null ? (
          names[row.kind]
        ) : (
          <span class={row.side === "BUY" ? "up" : "down"}>
            {row.side === "BUY" ? "Buy" : "Sell"}
          </span>
        )}
        <span class="sub num" title={timeTooltip(row.timestamp_ms)}>
          {ago(row.timestamp_ms, nowMs.value)}
        </span>
      </td>
      <td class="name">
        {row.condition_id === null ? (
          <span class="dim">{row.tokens.length > 1 ? "several markets" : "unknown market"}</span>
        ) : (
          <a href={paths.market(row.condition_id)}>{row.question ?? short(row.condition_id)}</a>
        )}
        <span class="sub">{nameTokens(row)}</span>
      </td>
      <td class="right num wide">{hasOneSize(row) ? exact(token?.size ?? null) : "–"}</td>
      <td class="right num wide">{cents(row.price)}</td>
      <td class="right num">{gain(row.cash_usd)}</td>
      <td class="wide">
        {row.counterparty === null ? (
          <span class="dim">–</span>
        ) : (
          <Wallet address={row.counterparty} />
        )}
      </td>
      <td class="wide">
        <Transaction hash={row.tx_hash} />
      </td>
    </tr>
  );
}

const namedMax = 3;

/** The outcomes of few tokens whose names are known; how many there are of others. */
function nameTokens({ tokens, tokens_truncated: isTruncated }: Activity): string {
  const names = tokens.flatMap(({ outcome }) => outcome ?? []);
  if (names.length === tokens.length && names.length <= namedMax) return names.join(", ");
  if (tokens.length === 1) return "shares";
  return `${isTruncated ? "more than " : ""}${tokens.length} tokens`;
}

/** Whether as many shares of each token came or went: not in a transfer of any tokens. */
function hasOneSize({ tokens }: Activity): boolean {
  const sizes = new Set(tokens.map(({ size }) => size.replace("-", "")));
  return sizes.size === 1;
}
