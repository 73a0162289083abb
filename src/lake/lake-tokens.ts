import type { TokenId } from "../base/ids.ts";
import { parseGen3TokenId } from "../market/ids/gen3-ids.ts";
import { toMarketFields, toTokenFields } from "../rows/trade-row.ts";
import type { LakeToken } from "../storage/lake/lake-parts.ts";
import type { MarketDirectory } from "../views/markets/market-directory.ts";

/** Returns a row of `tokenColumns`: what is known about a token now, as rows of trades show it. */
export function toLakeToken(tokenId: TokenId, directory: MarketDirectory): LakeToken {
  const token = directory.getToken(tokenId);
  const [fields, market] = [toTokenFields(token), toMarketFields(token.market)];
  return [
    tokenId,
    fields.token_id,
    fields.complement_token_id,
    fields.condition_id,
    fields.outcome,
    fields.outcome_index,
    parseGen3TokenId(tokenId)?.module ?? null,
    market.question,
    market.slug,
    market.event_id,
  ];
}
