import type { Market } from "../../../clients/typescript/src/api.ts";
import { exactDollars, short } from "../format/numbers.ts";
import { ChainLink, Transaction } from "../parts/hex.tsx";
import { Time } from "../parts/time.tsx";

/** How a market ended, and the result of its mirror; nothing while it is open. */
export function ResolutionBanner({ market }: { readonly market: Market }) {
  const { resolution, resolved_at_ms: atMs, oracle, mirror } = market;
  if (resolution === null) return null;
  const isOfMirror = mirror?.resolution?.seq === resolution.seq;
  return (
    <section class="notice good resolution" aria-label="Resolution">
      <strong>
        {resolution.winning_outcome === null ? (
          "Resolved without a single winner"
        ) : (
          <>
            Resolved: <bdi>{resolution.winning_outcome}</bdi>
          </>
        )}
      </strong>
      <p class="row">
        <Payouts market={market} of={resolution.payouts} />
        {atMs !== null && <Time at={atMs} form="second" />}
        <span>
          Transaction <Transaction hash={resolution.tx_hash} />
        </span>
        {oracle !== null && !isOfMirror && (
          <span>
            Oracle <code title={oracle}>{short(oracle)}</code>{" "}
            <ChainLink kind="address" id={oracle}>
              chain explorer
            </ChainLink>
          </span>
        )}
      </p>
      {mirror !== null && <MirrorResult market={market} isFirst={isOfMirror} />}
    </section>
  );
}

/** What the tokens of Protocol V2 pay. `isFirst`: whether the result of the market is that of its mirror. */
function MirrorResult({ market, isFirst }: { readonly market: Market; readonly isFirst: boolean }) {
  const resolution = market.mirror?.resolution ?? null;
  if (isFirst) return <p class="row mirror-result">Reported in Protocol V2 first</p>;
  if (resolution === null) return <p class="row mirror-result">Not yet resolved in Protocol V2</p>;
  return (
    <p class="row mirror-result">
      <span>
        In Protocol V2, <Payouts market={market} of={resolution.payouts} />
      </span>
      <span>
        Transaction <Transaction hash={resolution.tx_hash} />
      </span>
    </p>
  );
}

function Payouts({ market, of }: { readonly market: Market; readonly of: readonly string[] }) {
  const payouts = market.tokens.map(({ outcome, outcome_index: at }) => (
    <span key={at}>
      {at === 0 ? "" : ", "}
      <bdi>{outcome ?? `Outcome ${at + 1}`}</bdi> pays {exactDollars(of[at] ?? "0")}
    </span>
  ));
  return <span>{payouts} a share</span>;
}
