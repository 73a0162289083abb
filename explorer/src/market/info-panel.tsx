import type { Market } from "../../../clients/typescript/src/api.ts";
import { toMilliseconds } from "../format/times.ts";
import { ChainLink, FullId } from "../parts/hex.tsx";
import { Facts, Panel } from "../parts/panel.tsx";
import { Time } from "../parts/time.tsx";
import { paths } from "../routing/paths.ts";
import { chainId } from "../service/session.ts";

const polygon = 137;

/** The rules of a market, its ids and links to other sites. */
export function InfoPanel({ market }: { readonly market: Market }) {
  const { id, description, oracle, tokens, mirror, question_id: questionId } = market;
  const requests = [{ title: "Market", path: `/v1/markets/${id}` }];
  return (
    <Panel title="About this market" requests={requests} class="info-panel">
      {description !== null && (
        <details class="rules" open={description.length < 400}>
          <summary>Rules</summary>
          <p>{description.slice(0, 6000)}</p>
        </details>
      )}
      <Facts
        of={[
          ["Created", <Time at={market.created_at_ms} />],
          ["Ends", <Time at={toMilliseconds(market.end_date)} />],
          ["Names from", sources[market.metadata_source]],
          ...(market.tags.length === 0 ? [] : [["Tags", <Tags of={market.tags} />] as const]),
          ["Kind", market.neg_risk ? "one of several outcomes (neg-risk)" : "binary"],
        ]}
      />
      <Links market={market} />
      <details class="ids">
        <summary>Ids</summary>
        <Facts
          of={[
            ["Condition", <FullId id={id} label="condition id" />],
            ...(questionId === null
              ? []
              : [["Question", <FullId id={questionId} label="question id" />] as const]),
            ...(oracle === null
              ? []
              : [["Oracle", <FullId id={oracle} label="oracle address" />] as const]),
            ...tokenFacts(tokens),
          ]}
        />
        {mirror !== null && (
          <>
            <h3>In Protocol V2</h3>
            <Facts
              of={[
                [
                  "Condition",
                  <FullId id={mirror.condition_id} label="condition id in Protocol V2" />,
                ],
                ...tokenFacts(mirror.tokens, " in Protocol V2"),
              ]}
            />
          </>
        )}
      </details>
    </Panel>
  );
}

type Tokens = readonly Pick<Market["tokens"][number], "token_id" | "outcome">[];

/** The ids of tokens. `place` distinguishes the labels of their copy buttons. */
function tokenFacts(tokens: Tokens, place = "") {
  return tokens.map(
    ({ token_id: id, outcome }, at) =>
      [
        `Token ${outcome ?? at + 1}`,
        <FullId id={id} label={`token id of ${outcome ?? "outcome"}${place}`} />,
      ] as const,
  );
}

const sources: Readonly<Record<Market["metadata_source"], string>> = {
  chain: "the chain",
  chain_untrusted: "the chain, from an unknown sender",
  venue: "Polymarket",
  none: "nowhere: the indexed blocks have no text of the market",
};

function Tags({ of }: { readonly of: readonly string[] }) {
  return (
    <span class="row">
      {of.map((tag) => (
        <a key={tag} href={paths.tag(tag)}>
          {tag}
        </a>
      ))}
    </span>
  );
}

/** Links to other sites that show the market. They exist only for Polygon. */
function Links({ market }: { readonly market: Market }) {
  if (chainId.value !== polygon) return null;
  const { slug, event_slug: eventSlug, oracle } = market;
  const venue = eventSlug ?? slug;
  const request = getUmaRequest(market);
  return (
    <p class="row">
      {venue !== null && (
        <a
          href={`https://polymarket.com/event/${encodeURIComponent(venue)}`}
          target="_blank"
          rel="noreferrer noopener"
        >
          Polymarket ↗
        </a>
      )}
      {oracle !== null && (
        <ChainLink kind="address" id={oracle}>
          Oracle contract
        </ChainLink>
      )}
      {request !== null && (
        <a href={request} target="_blank" rel="noreferrer noopener">
          UMA request ↗
        </a>
      )}
    </p>
  );
}

/** UMA adapters that settle a request and resolve its market in one transaction. */
const settlingAdapters = new Set([
  "0x6a9d222616c90fca5754cd1333cfd9b7fb6a4f74",
  "0x157ce2d672854c848c9b79c49a8cc6cc89176a49",
  "0x65070be91477460d8a7aeeb94ef92fe056c2f2a7",
]);

/**
 * Returns the page of a market's request at UMA, which is found by the transaction that settled it; `null` if there is
 * none.
 */
function getUmaRequest({ oracle, resolution }: Market): string | null {
  if (resolution === null || !settlingAdapters.has(oracle ?? "")) return null;
  const query = `transactionHash=${resolution.tx_hash}&chainId=${polygon}&eventIndex=`;
  return `https://oracle.uma.xyz/settled?${query}`;
}
