import { useState } from "preact/hooks";
import { count, exact, percent } from "../format/numbers.ts";
import { Wallet } from "../parts/hex.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { Panel } from "../parts/panel.tsx";
import { type Column, TableHead } from "../parts/table-head.tsx";
import { orUnknown } from "../service/failure.ts";
import { useResource } from "../service/use-resource.ts";

const refreshMs = 30_000;
const firstRows = 10;
/** The most rows of a page of the service. */
const rowsMax = 100;

const columns: readonly Column[] = [["Wallet"], ["Shares", "right"], ["Share of supply", "right"]];

/** The largest holders of an outcome; nothing on a service that does not follow wallets. */
export function HoldersPanel(props: {
  readonly marketId: string;
  readonly chosen: number;
  readonly outcome: string | null;
}) {
  const { marketId, chosen, outcome } = props;
  const [limit, setLimit] = useState(firstRows);
  const query = { outcome_index: chosen, limit };
  const { data } = useResource(
    `holders ${marketId} ${chosen}`,
    async (using) => orUnknown(using.holders(marketId, query).page()),
    { everyMs: refreshMs, version: limit },
  );
  const page = data?.known ?? null;
  if (page === null || page.data.length === 0) return null;
  const all = page.meta.outcomes.find(({ outcome_index: index }) => index === chosen)?.holders;
  const path = `/v1/markets/${marketId}/holders`;
  return (
    <Panel
      title={`Holders, ${outcome ?? "outcome"}`}
      requests={[{ title: "Holders", path, query, isBulk: true }]}
    >
      <table aria-label="Largest holders">
        <TableHead columns={columns} />
        <tbody>
          {page.data.map(({ address, label, size, share_of_supply: share }) => (
            <tr key={address}>
              <td>
                <Wallet address={address} /> {label !== null && <span class="dim">{label}</span>}
              </td>
              <td class="right num">{count(size)}</td>
              <td class="right num">{percent(share)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {typeof all === "number" && all > page.data.length && (
        <p class="dim note">
          {exact(all)} holders in all{limit === rowsMax && ". The API has all, also as one file."}
        </p>
      )}
      {page.pagination.has_more && limit < rowsMax && (
        <MoreButton label="More holders" onRead={async () => setLimit(rowsMax)} />
      )}
    </Panel>
  );
}
