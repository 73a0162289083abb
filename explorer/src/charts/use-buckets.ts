import { useMemo, useState } from "preact/hooks";
import type { Candle, TokenId } from "../../../clients/typescript/src/api.ts";
import type { LedgerToken } from "../service/ledgers.ts";
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
 * length; `null` is no token.
 */
export function useBuckets(
  tokens: readonly (LedgerToken | null)[],
  requested: Wanted,
): Resource<Buckets> {
  const { range, form, chosen, firstMs, endMs } = requested;
  const ids = tokens.flatMap((token) => (token === null ? [] : [token.id]));
  const { data, failure } = useResource<Read>(
    ids.length === 0 ? null : `candles ${ids.join()} ${JSON.stringify(requested)}`,
    async (using) => {
      const window = getWindow({ range, form, chosen, firstMs, endMs: endMs ?? Date.now() });
      const pages = ids.map(async (id) => using.candles(id, candlesQuery(window, endMs)).page());
      return { window, candles: (await Promise.all(pages)).map((page) => page.data) };
    },
    endMs === null ? { everyMs: refreshMs } : {},
  );
  const resolution = endMs === null && data !== null ? data.window.resolution : null;
  const live = tokens.map((token) => useLiveCandles(token?.id ?? null, resolution));
  const buckets = useMemo(
    () => (data === null ? null : drawn(data, live, endMs ?? Date.now())),
    [data, ...live],
  );
  return { data: buckets, failure };
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
      : ({ type: "candles", token_id: tokenId, resolution, include_mirror: true } as const);
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
