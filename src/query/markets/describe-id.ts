/** What an id is that was given where another kind of id is expected. */
import {
  type ConditionId,
  formatTokenId,
  type Hash,
  parseConditionId,
  parseTokenId,
  type TokenId,
} from "../../base/ids.ts";
import { deriveConditionId } from "../../market/ids/condition-ids.ts";
import { getEventKey, type Market } from "../../market/market.ts";
import type { MarketDirectory } from "../../views/markets/market-directory.ts";
import { marketsOfEvent } from "../../views/venue-events/event-list.ts";

/**
 * Describes a market, token, question or event that has this id, in hex or decimal, this slug, or this page of the venue,
 * with the ids that are probably wanted. `null` when nothing that is indexed has it.
 */
export function describeId(directory: MarketDirectory, text: string): string | null {
  const number = parseTokenId(text);
  const hex = number ?? parseConditionId(text);
  if (hex === null) return describeName(directory, text);
  const market = directory.market(hex as string as ConditionId);
  if (market !== null) return `the condition id of a market${listIds(market)}`;
  const slot = directory.getSlot(hex as string as TokenId);
  if (slot !== null) {
    const decimal = number === null ? ` in hex, in decimal ${formatTokenId(hex as TokenId)}` : "";
    return `a token id${decimal}; its market is ${slot.conditionId}`;
  }
  // The first question of a neg-risk event has the id of the event.
  if (marketsOfEvent(directory, hex).length > 0)
    return `the id of an event; its markets are in /v1/markets?event_id=${hex}`;
  const ofQuestion = findQuestion(directory, hex as string as Hash);
  return ofQuestion === null ? null : `the question id of a market${listIds(ofQuestion)}`;
}

/** The last words of the path of a page are the slug of a market or of an event. */
const slugOfPage = /^https?:\/\/[^?#]*?\/([^/?#]+)\/?(?:[?#].*)?$/i;

function describeName(directory: MarketDirectory, text: string): string | null {
  const [, ofPage] = slugOfPage.exec(text) ?? [];
  const slug = ofPage ?? text;
  const page = ofPage === undefined ? "" : `a page with `;
  const [conditionId] = directory.bySlug(slug);
  const market = conditionId === undefined ? null : directory.market(conditionId);
  if (market !== null) return `${page}the slug of a market${listIds(market)}`;
  const { columns } = directory;
  const [ordinal] = columns.withLabel("event_slug", slug);
  const ofEvent = ordinal === undefined ? null : directory.market(columns.conditionIdAt(ordinal));
  return ofEvent === null ? null : `${page}the slug of an event, ${getEventKey(ofEvent)}`;
}

/** Finds the market of a question, whose condition id depends on the contract that reports its result. */
function findQuestion(directory: MarketDirectory, questionId: Hash): Market | null {
  for (const [oracle, { kind }] of directory.contracts.byAddress) {
    if (!kind.endsWith("_adapter")) continue;
    const id = deriveConditionId({ oracle, questionId, outcomeSlotCount: 2 });
    const market = directory.market(id);
    if (market !== null) return market;
  }
  return null;
}

function listIds({ conditionId, tokens }: Market): string {
  const ids = tokens.map(({ tokenId, outcome }) => {
    return formatTokenId(tokenId) + (outcome === null ? "" : ` (${outcome})`);
  });
  return `, ${conditionId}; its tokens are ${ids.join(" and ")}`;
}
