import { useState } from "preact/hooks";
import type { Market, MarketOpenInterest } from "../../../clients/typescript/src/api.ts";
import { Sparkline } from "../charts/sparkline.tsx";
import { count, dollars, exact, exactDollars } from "../format/numbers.ts";
import { Facts, Panel } from "../parts/panel.tsx";
import { Time } from "../parts/time.tsx";
import { orUnknown } from "../service/failure.ts";
import { useResource } from "../service/use-resource.ts";
import { useStream } from "../service/use-stream.ts";

const refreshMs = 60_000;
const bucketsMax = 300;
const dayMs = 86_400_000;

/** What is at stake in a market: its open interest over time, and the shares that exist. Nothing without any share. */
export function OpenInterestPanel({ market }: { readonly market: Market }) {
  const { id, created_at_ms: createdMs, tokens } = market;
  const isYoung = createdMs !== null && Date.now() - createdMs < 12 * dayMs;
  const query = { resolution: isYoung ? "1h" : "1d", limit: bucketsMax } as const;
  const { data } = useResource(
    `open interest ${id} ${query.resolution}`,
    async (using) => orUnknown(using.openInterest(id, query).page()),
    { everyMs: refreshMs },
  );
  const buckets = data?.known?.data ?? [];
  const last = buckets.at(-1);
  const newest = useNewest(last === undefined ? null : id) ?? last;
  if (newest === undefined) return null;
  const { supply, open_interest_usd: value, collateral_usd: collateral } = newest;
  const values = [...buckets.slice(0, -1), newest].map(({ open_interest_usd: usd }) => Number(usd));
  // Without a bucket before these, there were no shares before the first mint.
  if (buckets.length < bucketsMax) values.unshift(0);
  const path = `/v1/markets/${id}/open-interest`;
  return (
    <Panel
      title="Open interest"
      class="line-panel"
      requests={[{ title: "Open interest", path, query, isBulk: true }]}
    >
      {value === null || supply === null ? (
        <p class="dim">Not known: the market is older than the first indexed block.</p>
      ) : (
        <>
          <Sparkline
            values={values}
            label={`Open interest: ${dollars(value)}`}
            isStretched={true}
          />
          <p class="row dim">
            <Time at={buckets[0]?.timestamp_ms ?? null} form="date" />
            <b class="num">{exactDollars(value)}</b>
          </p>
          <Facts
            of={[
              ...tokens.map(({ outcome, outcome_index: at }) => {
                const shares = supply[at] ?? null;
                const text = <span title={exact(shares)}>{count(shares)} shares</span>;
                return [outcome ?? `Outcome ${at + 1}`, text] as const;
              }),
              ...(collateral === null ? [] : ([["Collateral", exactDollars(collateral)]] as const)),
            ]}
          />
        </>
      )}
    </Panel>
  );
}

/** Follows the open interest of a market. The service sends it again after a reorganization. */
function useNewest(id: string | null): MarketOpenInterest | null {
  const [newest, setNewest] = useState<MarketOpenInterest | null>(null);
  const channel = id === null ? null : ({ type: "open_interest", condition_ids: [id] } as const);
  useStream(channel && { channel, snapshot: 1 }, (frames) => {
    const rows = frames.flatMap((frame) =>
      frame.type === "event" ? [frame.data] : frame.type === "snapshot" ? frame.data : [],
    );
    setNewest((before) => rows.at(-1) ?? before);
  });
  return newest?.condition_id === id ? newest : null;
}
