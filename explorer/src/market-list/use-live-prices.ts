import { useState } from "preact/hooks";
import type { Price, TokenId } from "../../../clients/typescript/src/api.ts";
import type { LedgerToken } from "../service/ledgers.ts";
import { useResource } from "../service/use-resource.ts";
import { useStream } from "../service/use-stream.ts";

const tokensMax = 100;

/** Returns the live prices of the first 100 tokens over both ledgers, with their last 24 hours. */
export function useLivePrices(tokens: readonly LedgerToken[]): ReadonlyMap<TokenId, Price> {
  const visible = tokens.slice(0, tokensMax);
  const ids = visible.map(({ activeId }) => activeId);
  const { data } = useResource(ids.length === 0 ? null : `prices ${ids.join()}`, async (using) =>
    using.prices(ids, { include_mirror: true }),
  );
  const [live, setLive] = useState<ReadonlyMap<TokenId, Price>>(new Map());
  const channel =
    ids.length === 0 ? null : ({ type: "price", token_ids: ids, include_mirror: true } as const);
  useStream(channel && { channel }, (frames) => {
    const events = frames.flatMap((frame) => (frame.type === "event" ? [frame.data] : []));
    if (events.length === 0) return;
    setLive((before) => new Map([...before, ...events.map((one) => [one.token_id, one] as const)]));
  });
  const read = new Map((data ?? []).map((price) => [price.token_id, price]));
  return new Map(
    visible.flatMap(({ id, activeId }) => {
      const price = live.get(activeId) ?? read.get(activeId);
      return price === undefined ? [] : [[id, price] as const];
    }),
  );
}
