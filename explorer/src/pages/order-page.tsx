import { plural } from "../format/numbers.ts";
import { FullId, Transaction, Wallet } from "../parts/hex.tsx";
import { Facts, Panel } from "../parts/panel.tsx";
import { Notice, Shown } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { useResource } from "../service/use-resource.ts";
import { getFigures } from "../tape/fill-figures.ts";
import { FillTable } from "../tape/fill-table.tsx";

const refreshMs = 10_000;

/** One order: its fills, and the events that ended it. */
export function OrderPage({ hash }: { readonly hash: string }) {
  const order = useResource(`order ${hash}`, async (using) => using.order(hash), {
    everyMs: refreshMs,
  });
  return (
    <>
      <div class="page-head">
        <h1>Order</h1>
        <p>
          <FullId id={hash} label="order id" />
        </p>
      </div>
      <Shown of={order} what="order">
        {({ fills, cancellations, truncated }) => {
          const [first] = fills;
          const { usd, shares, price, isLimit } = getFigures(fills, []);
          return (
            <Panel
              title={plural(fills.length, "fill")}
              requests={[{ title: "Order", path: `/v1/orders/${hash}` }]}
            >
              {first !== undefined && (
                <Facts
                  of={[
                    ["Owner", <Wallet address={first.maker} />],
                    [
                      "Order",
                      `${first.side === "BUY" ? "Buy" : "Sell"} ${first.outcome ?? "shares"}`,
                    ],
                    ["Filled", `${shares} shares for ${usd}`],
                    ["Average price", price],
                  ]}
                />
              )}
              {isLimit && (
                <p class="dim">
                  These are upper bounds: what a taker did not use came back. The page of each
                  transaction has the exact amounts.
                </p>
              )}
              {cancellations.map((one) => (
                <p key={one.id} class="warn">
                  {one.kind.replaceAll("_", " ")} on <Time at={one.timestamp_ms} form="second" /> in{" "}
                  <Transaction hash={one.tx_hash} />
                </p>
              ))}
              {truncated && <p class="stale">There are more fills than this page lists.</p>}
              {fills.length === 0 ? (
                <Notice title="No part of this order was filled" />
              ) : (
                <FillTable fills={fills} matches={[]} label="Fills of this order" of="order" />
              )}
            </Panel>
          );
        }}
      </Shown>
    </>
  );
}
