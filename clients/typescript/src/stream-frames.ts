/** The frames of the stream that a client needs to know. */
import type {
  Activity,
  Cancellation,
  Candle,
  Decimal,
  Market,
  MarketOpenInterest,
  OrderBook,
  Price,
  Resolution,
  StreamError,
  StreamEvent,
  StreamFinalized,
  StreamHeartbeat,
  StreamPong,
  StreamReorg,
  StreamReplayComplete,
  StreamSnapshot,
  StreamSubscribed,
  StreamUnsubscribed,
  StreamWelcome,
  TokenId,
  Trade,
} from "./api.ts";

/** The changed levels, and the checksum of the book after the change. */
export type BookChange = Extract<StreamEvent, { readonly event: "book" }>["data"];

/** Reports that the book is stale until the next snapshot. */
export type BookStale = Extract<StreamEvent, { readonly event: "book_stale" }>["data"];

/** The rows in the events of each channel type, as the REST API returns them. */
export type ChannelRows = {
  trades: Trade;
  token_trades: Trade;
  resolutions: Resolution;
  markets: Market;
  cancellations: Cancellation;
  candles: Candle;
  price: Price;
  wallet: Activity;
  open_interest: MarketOpenInterest;
  /** The whole book is in a snapshot frame. */
  orderbook: OrderBook | BookChange | BookStale;
};

type Finality = "confirmed" | "finalized";

/** Whether to add the same outcome on the other ledger: of the mirror in Protocol V2, or of the legacy market. */
type Joined = { readonly include_mirror?: boolean | undefined };

/** Either one token or several. */
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

/** The fields that each channel type accepts. */
type ChannelFields = {
  trades: { readonly filter?: TradeFilter | undefined };
  token_trades: Tokens & Joined & { readonly filter?: TradeFilter | undefined };
  resolutions: { readonly filter?: MarketFilter | undefined };
  markets: { readonly filter?: MarketFilter | undefined };
  cancellations: { readonly filter?: { readonly finality?: Finality | undefined } | undefined };
  candles: Joined & {
    readonly token_id: TokenId;
    readonly resolution: "1m" | "5m" | "15m" | "1h" | "4h" | "1d";
  };
  price: Tokens & Joined;
  wallet: {
    readonly wallets: readonly string[];
    readonly filter?: { readonly finality?: Finality | undefined } | undefined;
  };
  open_interest: { readonly condition_ids: readonly string[] };
  orderbook: { readonly token_id: TokenId };
};

/** A request of a channel: a union over the channel types, each with the fields it accepts. */
export type ChannelRequest<Type extends keyof ChannelRows = keyof ChannelRows> = {
  [One in keyof ChannelRows]: ChannelFields[One] & { readonly type: One };
}[Type] & { readonly type: Type };

/** An event. `event` determines the type of `data`. */
export type EventFrame<Row> = Extract<StreamEvent, { readonly data: Row }>;

/** The newest rows of a channel, oldest first; for an order book, the whole book. */
export type SnapshotFrame<Row> = Omit<StreamSnapshot, "data"> & { readonly data: readonly Row[] };

/** A frame that a stream returns to its reader. */
export type StreamFrame<Row> =
  | EventFrame<Row>
  | SnapshotFrame<Row>
  | StreamReorg
  | StreamFinalized
  | StreamReplayComplete
  | StreamHeartbeat;

/** A frame that the client handles itself. */
export type ControlFrame =
  | StreamWelcome
  | StreamSubscribed
  | StreamUnsubscribed
  | StreamPong
  | StreamError;
