/**
 * Schemas of the frames that the stream sends. Their rows are the rows of the lists. Tests validate every frame that a
 * session sends.
 */
import { type TProperties, type TSchema, Type } from "typebox";
import { bookChangeRow, bookRow } from "../../rows/book-row.ts";
import { candleRow } from "../../rows/candle-row.ts";
import { cancellationRow } from "../../rows/exchange-event-row.ts";
import { marketRow } from "../../rows/market-row.ts";
import { priceRow } from "../../rows/price-row.ts";
import { resolutionRow } from "../../rows/resolution-row.ts";
import { tradeRow } from "../../rows/trade-row.ts";
import { activityRow } from "../../rows/wallets/activity-row.ts";
import { marketInterestRow } from "../../rows/wallets/open-interest-row.ts";
import { nullable, seqNumber, tokenIdText } from "../../rows/wire-format.ts";
import { errorSchema } from "../route/error-answer.ts";
import { metaSchema } from "../route/list-answer.ts";

const channel = Type.Record(Type.String(), Type.Unknown(), {
  description: "The channel: its type, and what it is narrowed to",
  examples: [{ type: "trades" }],
});
const subscriptionId = Type.String({
  description: "Identifies the subscription on this connection",
  examples: ["s7"],
});
const id = Type.Optional(
  Type.Union([Type.String(), Type.Integer()], {
    description: "The id of your frame",
    examples: ["my-1"],
  }),
);
const count = (description: string, example: number) =>
  Type.Integer({ description, examples: [example] });

function frame(type: string, description: string, fields: TProperties): TSchema {
  const named = Type.Literal(type, { description: "Type of the frame", examples: [type] });
  return Type.Object({ type: named, ...fields }, { description });
}

function event(name: string, data: TSchema): TSchema {
  return frame("event", `Something happened: ${name}`, {
    event: Type.Literal(name, { description: "What happened", examples: [name] }),
    channel,
    subscription_id: subscriptionId,
    seq: seqNumber,
    prev_seq: Type.Integer({
      description: "seq of the frame before it on this subscription; 0 is the beginning",
      examples: [1_081_000_012],
    }),
    replay: Type.Optional(
      Type.Boolean({ description: "true while the past is replayed", examples: [true] }),
    ),
    data,
  });
}

const { indexed_block, head_block, finalized_block, lag_seconds } = metaSchema.properties;
const bookStale = Type.Object({
  token_id: tokenIdText,
  stale_reason: Type.String({ description: "Why the book is stale", examples: ["behind"] }),
});
const rows = [
  tradeRow,
  resolutionRow,
  marketRow,
  cancellationRow,
  candleRow,
  priceRow,
  activityRow,
  marketInterestRow,
  bookRow,
];

/** The frames by their names in the API document. */
export const streamFrames: Readonly<Record<string, TSchema>> = {
  StreamWelcome: frame("welcome", "The first frame, and the response to an auth frame", {
    id,
    connection_id: Type.String({
      description: "The X-Request-Id of the upgrade",
      examples: ["0f6944c4-c339-4916-b35d-054d2ac053e8"],
    }),
    protocol: count("Version of the protocol", 1),
    authenticated: Type.Boolean({ description: "Whether a key was accepted" }),
    heartbeat_seconds: count("Seconds between heartbeats", 15),
    latest_seq: nullable(seqNumber),
    limits: Type.Object(
      {
        subscriptions: count("Most subscriptions of a connection", 1000),
        tokens_per_subscription: count("Most tokens of a subscription", 500),
        tokens_per_connection: count("Most tokens of all subscriptions of a connection", 10_000),
        frames_per_second: count("Most frames you may send in a second", 20),
        frame_bytes: count("Most bytes of a frame you send", 65_536),
        connections_per_key: nullable(Type.Integer(), {
          description: "Most connections of the key; null before one was sent",
          examples: [10],
        }),
        connections_per_ip: count("Most connections of an IP", 50),
      },
      { description: "Limits of this connection" },
    ),
  }),
  StreamSubscribed: frame("subscribed", "A subscription has started; its data follows", {
    id,
    channel,
    subscription_id: subscriptionId,
    seq: seqNumber,
  }),
  StreamUnsubscribed: frame("unsubscribed", "A subscription has ended", {
    id,
    channel,
    subscription_id: subscriptionId,
  }),
  StreamSnapshot: frame("snapshot", "The newest rows of a channel, or a whole book", {
    subscription_id: subscriptionId,
    seq: seqNumber,
    data: Type.Array(Type.Union(rows)),
  }),
  StreamEvent: Type.Union(
    [
      event("trade", tradeRow),
      event("resolution", resolutionRow),
      event("market", marketRow),
      event("cancellation", cancellationRow),
      event("candle", candleRow),
      event("price", priceRow),
      event("activity", activityRow),
      event("open_interest", marketInterestRow),
      event("book", bookChangeRow),
      event("book_stale", bookStale),
    ],
    { description: "Something happened; event says what data is" },
  ),
  StreamReplayComplete: frame("replay_complete", "The past was replayed; new events follow", {
    subscription_id: subscriptionId,
    seq: seqNumber,
  }),
  StreamReorg: frame("reorg", "A reorg reverted every row after a position; replacements follow", {
    subscription_id: subscriptionId,
    rewind_to_seq: seqNumber,
    reverted: Type.Array(Type.String(), { description: "Ids of the reverted rows that were sent" }),
  }),
  StreamFinalized: frame("finalized", "Nothing up to here can be reverted", {
    finalized_block: count("Newest final block", 899),
    finalized_seq: seqNumber,
  }),
  StreamHeartbeat: frame("heartbeat", "The connection is alive, and how far the service is", {
    latest_seq: nullable(seqNumber),
    indexed_block,
    head_block,
    finalized_block,
    lag_seconds,
  }),
  StreamPong: frame("pong", "The response to a ping frame", { id }),
  StreamError: frame("error", "Your frame was refused; the error is that of HTTP", {
    id,
    error: Type.Object({
      ...errorSchema.properties.error.properties,
      retry_after_seconds: Type.Optional(count("Seconds to wait before retrying", 5)),
    }),
  }),
};
