import { useState } from "preact/hooks";
import type { Price, TokenId } from "../../../clients/typescript/src/api.ts";
import { bothLedgers, type LedgerToken } from "../service/ledgers.ts";
import { usePaced } from "../service/use-paced.ts";
import { useResource } from "../service/use-resource.ts";
import { useStream } from "../service/use-stream.ts";

const tokensMax = 100;

/**
 * Returns the live prices of the first 100 tokens over both ledgers, with their last 24 hours. The stream has the price
 * of one ledger, so a price over two is read again when it changes.
 */
export function useLivePrices(tokens: readonly LedgerToken[]): ReadonlyMap<TokenId, Price> {
  const shown = tokens.slice(0, tokensMax);
  const requested = shown.map(({ activeId }) => activeId);
  const [version, raise] = usePaced();
  const { data } = useResource(
    shown.length === 0 ? null : `prices ${requested.join()}`,
    async (using) => using.prices(requested, { include_mirror: true }),
    { version },
  );
  const [live, setLive] = useState<ReadonlyMap<TokenId, Price>>(new Map());
  const ids = bothLedgers(shown);
  useStream(ids.length === 0 ? null : { channel: { type: "price", token_ids: ids } }, (frames) => {
    const events = frames.flatMap((frame) => (frame.type === "event" ? [frame.data] : []));
    const unmoved = new Set(shown.flatMap(({ id, mirrorId }) => (mirrorId === null ? [id] : [])));
    const changed = events.filter(({ token_id: id }) => unmoved.has(id));
    if (changed.length < events.length) raise();
    if (changed.length === 0) return;
    setLive(
      (before) => new Map([...before, ...changed.map((one) => [one.token_id, one] as const)]),
    );
  });
  const read = new Map((data ?? []).map((price) => [price.token_id, price]));
  return new Map(
    shown.flatMap(({ id, mirrorId, activeId }) => {
      const price = (mirrorId === null ? live.get(id) : undefined) ?? read.get(activeId);
      return price === undefined ? [] : [[id, price] as const];
    }),
  );
}
