import { useEffect, useReducer } from "preact/hooks";
import type { ListTrades, Trade } from "../../../clients/typescript/src/api.ts";
import type { ChannelRequest, StreamFrame } from "../../../clients/typescript/src/stream-frames.ts";
import { learnQuestions } from "../service/market-names.ts";
import { useResource } from "../service/use-resource.ts";
import { type LiveState, useStream } from "../service/use-stream.ts";

/** The newest trades of a channel, newest first. */
export type Tape = {
  readonly trades: readonly Trade[];
  /** Whether the service has trades before the oldest of these. */
  readonly hasOlder: boolean;
  /** Ids of trades that came while the page was open. */
  readonly fresh: ReadonlySet<string>;
  /** Ids of trades that a reorganization of the chain reverted; they are shown for a moment. */
  readonly reverted: ReadonlySet<string>;
  /** Trades up to this position cannot be reverted. */
  readonly finalizedSeq: number;
};

const rowsMax = 100;
const revertedShownMs = 4000;

const empty: Tape = {
  trades: [],
  hasOlder: false,
  fresh: new Set(),
  reverted: new Set(),
  finalizedSeq: 0,
};

/** The channels whose events are trades. */
export type TradeChannel = ChannelRequest<"trades" | "token_trades">;

/** Returns the query of the trades of a channel, with the questions of markets, which the stream does not send. */
export function toQuery(channel: TradeChannel) {
  return {
    token_id: channel.type === "token_trades" ? (channel.token_ids ?? []) : undefined,
    side: channel.filter?.side,
    min_value: channel.filter?.min_value,
    wallet: channel.filter?.wallet,
    include: "market",
    limit: rowsMax,
  } as const satisfies ListTrades["query"];
}

type History = { readonly trades: readonly Trade[]; readonly hasOlder: boolean };
type Frames = readonly StreamFrame<Trade>[];
type Change = { readonly frames: Frames } | { readonly history: History } | "forget reverted";

/** Follows the trades of one channel, which must stay the same. */
export function useTape(channel: TradeChannel): {
  readonly tape: Tape;
  readonly state: LiveState;
} {
  const [tape, change] = useReducer(reduce, empty);
  const history = useResource(
    `tape ${JSON.stringify(channel)}`,
    async (using): Promise<History> => {
      const { data, pagination } = await using.trades(toQuery(channel)).page();
      learnQuestions(data);
      return { trades: data, hasOlder: pagination.has_more };
    },
  );
  useEffect(() => {
    if (history.data !== null) change({ history: history.data });
  }, [history.data]);
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
  if (change === "forget reverted") {
    const trades = tape.trades.filter(({ id }) => !tape.reverted.has(id));
    return { ...tape, trades, reverted: new Set() };
  }
  if ("history" in change) {
    const { trades, hasOlder } = change.history;
    return cut({ ...tape, hasOlder: tape.hasOlder || hasOlder }, merged(tape.trades, trades));
  }
  return change.frames.reduce(take, tape);
}

/** Merges two lists of trades without duplicates, newest first. */
export function merged(trades: readonly Trade[], others: readonly Trade[]): readonly Trade[] {
  const byId = new Map([...others, ...trades].map((trade) => [trade.id, trade]));
  return [...byId.values()].toSorted((a, b) => b.seq - a.seq);
}

/** The tape with the newest of these trades. */
function cut(tape: Tape, trades: readonly Trade[]): Tape {
  const hasOlder = tape.hasOlder || trades.length > rowsMax;
  return { ...tape, trades: trades.slice(0, rowsMax), hasOlder };
}

/** The tape after one more frame of the stream. */
function take(tape: Tape, frame: StreamFrame<Trade>): Tape {
  switch (frame.type) {
    case "snapshot":
      return cut(tape, merged(tape.trades, frame.data));
    case "event": {
      const { data } = frame;
      const others = tape.trades.filter(({ id }) => id !== data.id);
      const reverted = new Set([...tape.reverted].filter((id) => id !== data.id));
      const next = cut(tape, [data, ...others]);
      const ids = new Set(next.trades.map(({ id }) => id));
      const fresh = new Set([...tape.fresh, data.id].filter((id) => ids.has(id)));
      return { ...next, fresh, reverted };
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
