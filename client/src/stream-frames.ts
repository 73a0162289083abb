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

type Finality = "confirmed" | "finalized";

/** One token or several, never both. */
type Tokens =
  | { readonly token_id: TokenId; readonly token_ids?: undefined }
  | { readonly token_ids: readonly TokenId[]; readonly token_id?: undefined };

type MarketFilter = {
  readonly condition_id?: string | undefined;
  readonly finality?: Finality | undefined;
};

type TradeFilter = MarketFilter & {
  readonly side?: "BUY" | "SELL" | undefined;
  readonly min_value?: Decimal | undefined;
  readonly wallet?: string | undefined;
};

/** What each type of channel takes. */
type ChannelFields = {
  trades: { readonly filter?: TradeFilter | undefined };
  token_trades: Tokens & { readonly filter?: TradeFilter | undefined };
  resolutions: { readonly filter?: MarketFilter | undefined };
  markets: { readonly filter?: MarketFilter | undefined };
  cancellations: { readonly filter?: { readonly finality?: Finality | undefined } | undefined };
  candles: {
    readonly token_id: TokenId;
    readonly resolution: "1m" | "5m" | "15m" | "1h" | "4h" | "1d";
  };
  price: Tokens;
  orderbook: { readonly token_id: TokenId };
};

/** Which events to report: a union over the types of channel, each with what it takes. */
export type ChannelRequest<Type extends keyof ChannelRows = keyof ChannelRows> = {
  [One in keyof ChannelRows]: ChannelFields[One] & { readonly type: One };
}[Type] & { readonly type: Type };

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
