import { useEffect, useRef, useState } from "preact/hooks";
import { wait } from "../../../clients/typescript/src/backoff.ts";
import type { StreamState } from "../../../clients/typescript/src/event-stream.ts";
import type {
  ChannelRequest,
  ChannelRows,
  StreamFrame,
} from "../../../clients/typescript/src/stream-frames.ts";
import { toFailure } from "./failure.ts";
import { nextPaint } from "./next-paint.ts";
import { client, lock } from "./session.ts";

type Options<Type extends keyof ChannelRows> = {
  readonly channel: ChannelRequest<Type>;
  readonly snapshot?: number;
};

/** Frames that arrive within this time are shown together. */
const togetherMs = 200;

/** The state of a stream. */
export type LiveState = StreamState | "failed";

/**
 * Follows a channel while the component is on the page, and passes its frames on in groups. `options` of `null` follow
 * nothing.
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
    if (options === null) return;
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

/** Passes items on in groups, at most every 200 ms and before a repaint. A person cannot read faster. */
function gather<T>(give: (items: readonly T[]) => void): (item: T) => void {
  let waiting: T[] = [];
  const flush = async (): Promise<void> => {
    // All streams flush at the same time, so that the page is drawn once.
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
