/** What is said on the stream, as far as a client has to know it. */
import type {
  Cancellation,
  Candle,
  Decimal,
  Market,
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
  StreamWelcome,
  TokenId,
  Trade,
} from "./api.ts";
import type { BookChange, BookStale } from "./local-book.ts";

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

/** Which events to send: a union over the types of channel, each with what it takes. */
export type ChannelRequest<Type extends keyof ChannelRows = keyof ChannelRows> = {
  [One in keyof ChannelRows]: ChannelFields[One] & { readonly type: One };
}[Type] & { readonly type: Type };

/** One thing that happened: `event` says what `data` is. */
export type EventFrame<Row> = Extract<StreamEvent, { readonly data: Row }>;

/** The newest rows of a channel, oldest first; of a book, the whole book. */
export type SnapshotFrame<Row> = Omit<StreamSnapshot, "data"> & { readonly data: readonly Row[] };

/** What a stream gives to its reader. */
export type StreamFrame<Row> =
  | EventFrame<Row>
  | SnapshotFrame<Row>
  | StreamReorg
  | StreamFinalized
  | StreamReplayComplete
  | StreamHeartbeat;

/** What is between the connection and the service alone. */
export type ControlFrame = StreamWelcome | StreamSubscribed | StreamPong | StreamError;
