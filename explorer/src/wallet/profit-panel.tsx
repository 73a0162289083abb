import { Sparkline } from "../charts/sparkline.tsx";
import { gain, getTone } from "../format/numbers.ts";
import { Panel } from "../parts/panel.tsx";
import { Time } from "../parts/time.tsx";
import { orUnknown } from "../service/failure.ts";
import { useResource } from "../service/use-resource.ts";

const refreshMs = 60_000;
const bucketsMax = 400;
const dayMs = 86_400_000;

/** The realized profit of a wallet over time, in hours for a week, else in days; nothing before it has any. */
export function ProfitPanel(props: { readonly address: string; readonly firstMs: number | null }) {
  const { address, firstMs } = props;
  const isYoung = firstMs !== null && Date.now() - firstMs < 7 * dayMs;
  const query = { resolution: isYoung ? "1h" : "1d", order: "desc", limit: bucketsMax } as const;
  const { data } = useResource(
    `pnl ${address} ${query.resolution}`,
    async (using) => orUnknown(using.pnl(address, query).page()),
    { everyMs: refreshMs },
  );
  const buckets = (data?.known?.data ?? []).toReversed();
  const values = buckets.map(({ cumulative_realized_pnl: profit }) =>
    profit === null ? null : Number(profit),
  );
  const [first] = buckets;
  const newest = values.at(-1) ?? null;
  if (first === undefined || newest === null) return null;
  const path = `/v1/wallets/${address}/pnl`;
  return (
    <Panel
      title="Realized profit"
      class="line-panel"
      requests={[{ title: "Profit over time", path, query, isBulk: true }]}
    >
      <Sparkline
        values={[0, ...values]}
        tone={getTone(newest)}
        label={`Realized profit: ${gain(newest)}`}
        isStretched={true}
      />
      <p class="row dim">
        <Time at={first.timestamp_ms} form="date" />
        <b class={`num ${getTone(newest)}`}>{gain(newest)}</b>
      </p>
    </Panel>
  );
}
