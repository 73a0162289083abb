import { useMemo, useState } from "preact/hooks";
import type { Candle, TokenId } from "../../../client/src/api.ts";
import { type Resource, useResource } from "../service/use-resource.ts";
import { useStream } from "../service/use-stream.ts";
import {
  type Bucket,
  bucketsOf,
  candlesQuery,
  type Range,
  type Resolution,
  type Window,
  windowOf,
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

/** The buckets to draw, and their window. */
export type Buckets = { readonly window: Window; readonly buckets: readonly Bucket[] };

type Read = { readonly window: Window; readonly candles: readonly Candle[] };

/** Returns the candles of a token on a regular time grid, kept up to date. */
export function useBuckets(tokenId: TokenId | null, wanted: Wanted): Resource<Buckets> {
  const { range, form, chosen, firstMs, endMs } = wanted;
  const now = (): Window => windowOf({ range, form, chosen, firstMs, endMs: endMs ?? Date.now() });
  const name = tokenId && `candles ${tokenId} ${JSON.stringify(wanted)}`;
  const { data, failure } = useResource<Read>(
    name,
    async (using) => {
      const window = now();
      const { data: candles } = await using.candles(tokenId ?? "", candlesQuery(window)).page();
      return { window, candles };
    },
    endMs === null ? { everyMs: refreshMs } : {},
  );
  const resolution = data?.window.resolution ?? null;
  const live = useLiveCandles(endMs === null && resolution !== null ? tokenId : null, resolution);
  const shown = useMemo(() => (data === null ? null : drawn(data, live)), [data, live]);
  return { data: shown, failure };
}

function drawn({ window, candles }: Read, live: readonly Candle[]): Buckets {
  const newest = Math.max(window.toMs, live.at(-1)?.timestamp_ms ?? 0);
  const moved = { ...window, toMs: newest };
  return { window: moved, buckets: bucketsOf(moved, [...candles, ...live]) };
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
