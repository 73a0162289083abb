import { useState } from "preact/hooks";
import type { Price, TokenId } from "../../../client/src/api.ts";
import { useResource } from "../service/use-resource.ts";
import { useStream } from "../service/use-stream.ts";

const tokensMax = 100;

/** Returns the live prices of the first 100 tokens, with their last 24 hours. */
export function useLivePrices(tokenIds: readonly TokenId[]): ReadonlyMap<TokenId, Price> {
  const ids = tokenIds.slice(0, tokensMax);
  const name = ids.length === 0 ? null : `prices ${ids.join()}`;
  const { data } = useResource(name, async (using) => using.prices(ids));
  const [live, setLive] = useState<ReadonlyMap<TokenId, Price>>(new Map());
  useStream(ids.length === 0 ? null : { channel: { type: "price", token_ids: ids } }, (frames) => {
    const changed = frames.flatMap((frame) => {
      return frame.type === "event" ? [[frame.data.token_id, frame.data] as const] : [];
    });
    if (changed.length > 0) setLive((before) => new Map([...before, ...changed]));
  });
  const read = (data ?? []).map((price) => [price.token_id, price] as const);
  return new Map([...read, ...live]);
}
