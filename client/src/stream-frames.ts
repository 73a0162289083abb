/** What is said on the stream, as far as a client has to know it. */
import type {
  Cancellation,
  Candle,
  Decimal,
  ErrorAnswer,
  Market,
  Price,
  Resolution,
  Seq,
  TokenId,
  Trade,
} from "./api.ts";
import type { BookChange, BookStale, OrderBook } from "./local-book.ts";

/** What the events of each type of channel hold: rows as REST answers them. */
export type ChannelRows = {
  trades: Trade;
  token_trades: Trade;
  resolutions: Resolution;
  markets: Market;
  cancellations: Cancellation;
  candles: Candle;
  price: Price;
  /** Whole books come as snapshots. */
  orderbook: OrderBook | BookChange | BookStale;
};

/** Which events to report. Fields that a type of channel does not take are refused. */
export type ChannelRequest<Type extends string = keyof ChannelRows> = {
  readonly type: Type;
  readonly token_id?: TokenId;
  readonly token_ids?: readonly TokenId[];
  readonly resolution?: "1m" | "5m" | "15m" | "1h" | "4h" | "1d";
  readonly filter?: {
    readonly side?: "BUY" | "SELL";
    readonly min_value?: Decimal;
    readonly wallet?: string;
    readonly condition_id?: string;
    readonly finality?: "confirmed" | "finalized";
  };
};

/** One thing that happened. */
export type EventFrame<Row> = {
  readonly type: "event";
  readonly event: string;
  readonly seq: Seq;
  /** The seq of the frame before it on this channel; 0 is the beginning. */
  readonly prev_seq: Seq;
  readonly replay?: boolean;
  readonly data: Row;
};

/** The newest rows of a channel, oldest first. */
export type SnapshotFrame<Row> = {
  readonly type: "snapshot";
  readonly seq: Seq;
  readonly data: readonly Row[];
};

/** A fork reverted everything behind a position; what came in its place follows. */
export type ReorgFrame = {
  readonly type: "reorg";
  readonly rewind_to_seq: Seq;
  /** Ids of the rows reverted, as far as the service knows what was sent. */
  readonly reverted: readonly string[];
};

/** Everything up to here can never be reverted. */
export type FinalizedFrame = {
  readonly type: "finalized";
  readonly finalized_block: number;
  readonly finalized_seq: Seq;
};

/** What was asked for by `resumeFrom` has been sent; changes follows. */
export type ReplayCompleteFrame = { readonly type: "replay_complete"; readonly seq: Seq };

/** That the service lives, and how far it is. */
export type HeartbeatFrame = {
  readonly type: "heartbeat";
  readonly latest_seq: Seq | null;
  readonly indexed_block: number | null;
  readonly head_block: number | null;
  readonly finalized_block: number | null;
  readonly lag_seconds: number | null;
};

/** What a stream gives to its reader. */
export type StreamFrame<Row> =
  | EventFrame<Row>
  | SnapshotFrame<Row>
  | ReorgFrame
  | FinalizedFrame
  | ReplayCompleteFrame
  | HeartbeatFrame;

/** What is between the connection and the service alone. */
export type ControlFrame =
  | { readonly type: "welcome"; readonly heartbeat_seconds: number }
  | { readonly type: "subscribed"; readonly seq: Seq }
  | { readonly type: "pong" }
  | (ErrorAnswer & { readonly type: "error" });
