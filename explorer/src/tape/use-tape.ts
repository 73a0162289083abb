import { useEffect, useReducer } from "preact/hooks";
import type { Trade } from "../../../client/src/api.ts";
import type { OddwireClient } from "../../../client/src/client.ts";
import type { ChannelRequest, StreamFrame } from "../../../client/src/stream-frames.ts";
import { learnQuestions } from "../service/market-names.ts";
import { useResource } from "../service/use-resource.ts";
import { type LiveState, useStream } from "../service/use-stream.ts";

/** The newest trades of a channel, newest first. */
export type Tape = {
  readonly trades: readonly Trade[];
  /** Ids of trades that came while the page was open. */
  readonly fresh: ReadonlySet<string>;
  /** Ids of trades that a reorganization of the chain reverted; they are shown for a moment. */
  readonly reverted: ReadonlySet<string>;
  /** Trades up to this position cannot be reverted. */
  readonly finalizedSeq: number;
};

const rowsMax = 100;
const revertedShownMs = 4000;

const empty: Tape = { trades: [], fresh: new Set(), reverted: new Set(), finalizedSeq: 0 };

type Frames = readonly StreamFrame<Trade>[];
type Change =
  | { readonly frames: Frames }
  | { readonly history: readonly Trade[] }
  | "clear"
  | "forget reverted";

/** Follows the trades of a channel. */
export function useTape(channel: ChannelRequest<"trades" | "token_trades">): {
  readonly tape: Tape;
  readonly state: LiveState;
} {
  const [tape, change] = useReducer(reduce, empty);
  const name = JSON.stringify(channel);
  useEffect(() => change("clear"), [name]);
  const history = useResource(`tape ${name}`, async (using) => readHistory(using, channel));
  useEffect(() => {
    if (history.data !== null) change({ history: history.data });
  }, [name, history.data]);
  const state = useStream({ channel, snapshot: rowsMax }, (frames) => change({ frames }));
  const revertedCount = tape.reverted.size;
  useEffect(() => {
    if (revertedCount === 0) return;
    const timer = setTimeout(() => change("forget reverted"), revertedShownMs);
    return () => clearTimeout(timer);
  }, [revertedCount]);
  return { tape, state };
}

function reduce(tape: Tape, change: Change): Tape {
  if (change === "clear") return empty;
  if (change === "forget reverted") {
    const trades = tape.trades.filter(({ id }) => !tape.reverted.has(id));
    return { ...tape, trades, reverted: new Set() };
  }
  if ("history" in change) return { ...tape, trades: merged(tape.trades, change.history) };
  return change.frames.reduce(take, tape);
}

/** Merges two lists of trades without duplicates, newest first. */
function merged(trades: readonly Trade[], others: readonly Trade[]): readonly Trade[] {
  const byId = new Map([...others, ...trades].map((trade) => [trade.id, trade]));
  return [...byId.values()].toSorted((a, b) => b.seq - a.seq).slice(0, rowsMax);
}

/** Reads the newest trades with the questions of their markets, which the stream does not send. */
async function readHistory(
  using: OddwireClient,
  channel: ChannelRequest<"trades" | "token_trades">,
): Promise<readonly Trade[]> {
  const query = {
    token_id: channel.type === "token_trades" ? (channel.token_ids ?? []) : undefined,
    side: channel.filter?.side,
    min_value: channel.filter?.min_value,
    include: "market",
    limit: rowsMax,
  } as const;
  const { data } = await using.trades(query).page();
  learnQuestions(data);
  return data;
}

/** The tape after one more frame of the stream. */
function take(tape: Tape, frame: StreamFrame<Trade>): Tape {
  switch (frame.type) {
    case "snapshot":
      return { ...tape, trades: merged(tape.trades, frame.data) };
    case "event": {
      const { data } = frame;
      const others = tape.trades.filter(({ id }) => id !== data.id);
      const reverted = new Set([...tape.reverted].filter((id) => id !== data.id));
      const trades = [data, ...others].slice(0, rowsMax);
      const shown = new Set(trades.map(({ id }) => id));
      const fresh = new Set([...tape.fresh, data.id].filter((id) => shown.has(id)));
      return { ...tape, trades, fresh, reverted };
    }
    case "reorg": {
      const named = new Set(frame.reverted);
      const gone = tape.trades.filter(({ id, seq }) => named.has(id) || seq > frame.rewind_to_seq);
      return { ...tape, reverted: new Set([...tape.reverted, ...gone.map(({ id }) => id)]) };
    }
    case "finalized":
      return { ...tape, finalizedSeq: Math.max(tape.finalizedSeq, frame.finalized_seq) };
    case "heartbeat":
    case "replay_complete":
      return tape;
  }
}
