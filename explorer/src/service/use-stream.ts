import { useEffect, useRef, useState } from "preact/hooks";
import { wait } from "../../../client/src/backoff.ts";
import type { StreamState } from "../../../client/src/event-stream.ts";
import type {
  ChannelRequest,
  ChannelRows,
  StreamFrame,
} from "../../../client/src/stream-frames.ts";
import { toFailure } from "./failure.ts";
import { nextPaint } from "./next-paint.ts";
import { client, lock } from "./session.ts";

type Options<Type extends keyof ChannelRows> = {
  readonly channel: ChannelRequest<Type>;
  readonly snapshot?: number;
};

/** What comes within this time is shown together. */
const togetherMs = 200;

/** How a stream is doing; `paused` while the page reads none. */
export type LiveState = StreamState | "paused" | "failed";

/**
 * Follows a channel while the component is on the page and hands its frames on, those of a moment together.
 * `options` of `null` follow nothing.
 */
export function useStream<Type extends keyof ChannelRows>(
  options: Options<Type> | null,
  onFrames: (frames: readonly StreamFrame<ChannelRows[Type]>[]) => void,
): LiveState {
  const [state, setState] = useState<LiveState>("connecting");
  const handler = useRef(onFrames);
  handler.current = onFrames;
  const using = client.value;
  const name = JSON.stringify(options);
  useEffect(() => {
    if (options === null) {
      setState("paused");
      return;
    }
    const left = new AbortController();
    const { signal } = left;
    const gathered = gather<StreamFrame<ChannelRows[Type]>>((frames) => {
      if (!signal.aborted) handler.current(frames);
    });
    const follow = async (): Promise<void> => {
      for await (const frame of using.stream({ ...options, signal, onState: setState }))
        gathered(frame);
    };
    follow().catch((thrown: unknown) => {
      if (signal.aborted) return;
      const failure = toFailure(thrown);
      if (failure.kind === "key") lock();
      else setState("failed");
    });
    return () => left.abort();
  }, [name, using]);
  return state;
}

/** Hands on what came since the last time, before a frame of the screen: faster than this nothing can be read. */
function gather<T>(give: (items: readonly T[]) => void): (item: T) => void {
  let waiting: T[] = [];
  const flush = async (): Promise<void> => {
    // All streams at the same time, so that the page is drawn once.
    await wait(togetherMs - (performance.now() % togetherMs), undefined);
    await nextPaint();
    const items = waiting;
    waiting = [];
    give(items);
  };
  return (item) => {
    waiting.push(item);
    if (waiting.length === 1) void flush();
  };
}
