import { useMemo, useState } from "preact/hooks";
import type { Candle, TokenId } from "../../../clients/typescript/src/api.ts";
import { bothLedgers, type LedgerToken } from "../service/ledgers.ts";
import { usePaced } from "../service/use-paced.ts";
import { type Resource, useResource } from "../service/use-resource.ts";
import { useStream } from "../service/use-stream.ts";
import {
  type Bucket,
  candlesQuery,
  getWindow,
  type Range,
  type Resolution,
  toBuckets,
  type Window,
} from "./buckets.ts";

const refreshMs = 60_000;

/** The candles to draw. */
export type Wanted = {
  readonly range: Range;
  readonly form: "line" | "candles";
  readonly chosen: Resolution | null;
  /** When the market began. */
  readonly firstMs: number;
  /** When the market ended; `null` while it is open. Candles of an open market are updated live. */
  readonly endMs: number | null;
};

/** The buckets of each token on one time grid. */
export type Buckets = {
  readonly window: Window;
  readonly lines: readonly (readonly Bucket[])[];
};

type Read = { readonly window: Window; readonly candles: readonly (readonly Candle[])[] };

/**
 * Returns the candles of tokens over both ledgers on a regular time grid, kept up to date. `tokens` always has the same
 * length; `null` is no token. The stream has the candles of one ledger, so those over two are read again when they change.
 */
export function useBuckets(
  tokens: readonly (LedgerToken | null)[],
  requested: Wanted,
): Resource<Buckets> {
  const { range, form, chosen, firstMs, endMs } = requested;
  const present = tokens.filter((token) => token !== null);
  const ids = present.map(({ id }) => id);
  const [version, raise] = usePaced();
  const { data, failure } = useResource<Read>(
    ids.length === 0 ? null : `candles ${ids.join()} ${JSON.stringify(requested)}`,
    async (using) => {
      const window = getWindow({ range, form, chosen, firstMs, endMs: endMs ?? Date.now() });
      const pages = ids.map(async (id) => using.candles(id, candlesQuery(window, endMs)).page());
      return { window, candles: (await Promise.all(pages)).map((page) => page.data) };
    },
    endMs === null ? { everyMs: refreshMs, version } : {},
  );
  const resolution = endMs === null && data !== null ? data.window.resolution : null;
  const live = tokens.map((token) =>
    useLiveCandles(token?.mirrorId === null ? token.id : null, resolution),
  );
  const moved = bothLedgers(present.filter(({ mirrorId }) => mirrorId !== null));
  const channel =
    moved.length === 0 || resolution === null
      ? null
      : ({ type: "price", token_ids: moved } as const);
  useStream(channel && { channel }, (frames) => {
    if (frames.some(({ type }) => type === "event")) raise();
  });
  const shown = useMemo(
    () => (data === null ? null : drawn(data, live, endMs ?? Date.now())),
    [data, ...live],
  );
  return { data: shown, failure };
}

function drawn(
  { window, candles }: Read,
  live: readonly (readonly Candle[])[],
  untilMs: number,
): Buckets {
  const newest = live.map((line) => line.at(-1)?.timestamp_ms ?? 0);
  const moved = { ...window, toMs: Math.max(window.toMs, ...newest) };
  const lines = candles.map((line, at) =>
    toBuckets(moved, [...line, ...(live[at] ?? [])], untilMs),
  );
  return { window: moved, lines };
}

/** Returns the candles that changed since the page was read, in order of time. */
function useLiveCandles(tokenId: TokenId | null, resolution: Resolution | null): readonly Candle[] {
  const of = `${tokenId} ${resolution}`;
  const [state, setState] = useState<{ readonly of: string; readonly candles: readonly Candle[] }>({
    of,
    candles: [],
  });
  const channel =
    tokenId === null || resolution === null
      ? null
      : ({ type: "candles", token_id: tokenId, resolution } as const);
  useStream(channel && { channel }, (frames) => {
    const changed = frames.flatMap((frame) => (frame.type === "event" ? [frame.data] : []));
    if (changed.length === 0) return;
    setState((before) => {
      const all = [...(before.of === of ? before.candles : []), ...changed];
      const byTime = new Map(all.map((candle) => [candle.timestamp_ms, candle]));
      return {
        of,
        candles: [...byTime.values()].toSorted((a, b) => a.timestamp_ms - b.timestamp_ms),
      };
    });
  });
  return state.of === of ? state.candles : none;
}

const none: readonly Candle[] = [];
