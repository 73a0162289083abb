import type { StreamOptions } from "../../../client/src/event-stream.ts";
import type { ChannelRows, ReorgFrame } from "../../../client/src/stream-frames.ts";
import { fill } from "../dom.ts";
import { type PageContext, wordsOf } from "../page.ts";

type Handlers<Row> = {
  readonly event: (row: Row) => void;
  readonly snapshot?: (rows: readonly Row[]) => void;
  readonly reorg?: (frame: ReorgFrame) => void;
};

const saidOf = { connecting: "Connecting…", replaying: "Catching up…", live: "Live" } as const;

/** Follows a channel until the page is left, says in `said` how it goes, and hands on what comes. */
export async function follow<Type extends keyof ChannelRows>(
  { client, signal }: Pick<PageContext, "client" | "signal">,
  options: StreamOptions<Type>,
  { said, ...handlers }: Handlers<ChannelRows[Type]> & { readonly said?: Element },
): Promise<void> {
  const onState = (state: keyof typeof saidOf): void => {
    if (said !== undefined) fill(said, saidOf[state]);
  };
  try {
    for await (const frame of client.stream({ ...options, signal, onState })) {
      if (frame.type === "event") handlers.event(frame.data);
      else if (frame.type === "snapshot") handlers.snapshot?.(frame.data);
      else if (frame.type === "reorg") handlers.reorg?.(frame);
    }
  } catch (thrown) {
    if (said !== undefined) fill(said, wordsOf(thrown));
  }
}
