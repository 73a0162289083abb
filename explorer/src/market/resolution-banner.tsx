import type { Market } from "../../../clients/typescript/src/api.ts";
import { exactDollars, short } from "../format/numbers.ts";
import { ChainLink, Transaction } from "../parts/hex.tsx";
import { Time } from "../parts/time.tsx";

/** How a market ended; nothing while it is open. */
export function ResolutionBanner({ market }: { readonly market: Market }) {
  const { resolution, resolved_at_ms: atMs, oracle, tokens } = market;
  if (resolution === null) return null;
  const payouts = tokens.map(({ outcome, outcome_index: at }) => (
    <span key={at}>
      {at === 0 ? "" : ", "}
      <bdi>{outcome ?? `Outcome ${at + 1}`}</bdi> pays {exactDollars(resolution.payouts[at] ?? "0")}
    </span>
  ));
  return (
    <section class="notice good resolution" aria-label="Resolution">
      <strong>
        {resolution.winning_outcome === null
          ? "Resolved without a single winner"
          : `Resolved: ${resolution.winning_outcome}`}
      </strong>
      <p class="row">
        <span>{payouts} a share</span>
        {atMs !== null && <Time at={atMs} form="second" />}
        <span>
          Transaction <Transaction hash={resolution.tx_hash} />
        </span>
        {oracle !== null && (
          <span>
            Oracle <code title={oracle}>{short(oracle)}</code>{" "}
            <ChainLink kind="address" id={oracle}>
              chain explorer
            </ChainLink>
          </span>
        )}
      </p>
    </section>
  );
}
