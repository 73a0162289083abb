import { z } from "zod";
import type {
  Candle,
  GetWallet,
  Market,
  OrderBook,
  PastPrice,
  Position,
  Price,
  ResultStep,
  Trade,
} from "../../../clients/typescript/src/api.ts";
import type { Connection } from "../../../clients/typescript/src/connection.ts";
import { OddwireError } from "../../../clients/typescript/src/oddwire-error.ts";
import {
  type Answer,
  ask,
  askRows,
  find,
  isFinal,
  pick,
  provenance,
  segment,
  type ToolAnswer,
} from "./tool-answer.ts";

/** A tool of the server: its description for agents, its input, and how it reads the answer. */
export type Tool = {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodRawShape;
  /** What an agent can do about `NOT_FOUND`; by default: find another id. */
  readonly adviceOnNotFound?: string;
  readonly read: (
    connection: Connection,
    input: Readonly<Record<string, unknown>>,
  ) => Promise<ToolAnswer>;
};

/** Steps to a result: few questions have more than ten. */
const stepsMax = 50;
const stepFields = [
  "kind",
  "timestamp",
  "price",
  "payouts",
  "account",
  "bond",
  "tx_hash",
  "seq",
] as const;

/** The id of one thing. A path with a segment of dots is another path. */
const idOfOne = z
  .string()
  .min(1)
  .max(200)
  .refine((id) => /[^.]/.test(id) && !id.includes(","), "must be one id. Correct the argument");
const token = idOfOne.describe(
  "Outcome token: a decimal token id as find_market returns it, or a slug or condition id with an outcome: who-wins:yes",
);
const time = z
  .string()
  .max(40)
  .describe("RFC 3339 in UTC such as 2026-01-31T12:00:00Z, or epoch seconds");
const marketId = idOfOne.describe("Condition id (0x...), token id or slug of the market");
const wallet = idOfOne.describe("Address of a wallet, 0x and 40 hex digits");
const limitTo = (max: number, byDefault: number) =>
  z.number().int().min(1).max(max).default(byDefault).describe(`Most rows, at most ${max}`);

/** Creates a tool whose input has the types of its schema. */
function tool<Shape extends z.ZodRawShape>(definition: {
  readonly name: string;
  readonly description: string;
  readonly input: Shape;
  readonly adviceOnNotFound?: string;
  readonly read: (
    connection: Connection,
    input: z.infer<z.ZodObject<Shape>>,
  ) => Promise<ToolAnswer>;
}): Tool {
  return definition as unknown as Tool;
}

/** The tools. Each only reads, and returns a bounded number of rows. */
export const tools: readonly Tool[] = [
  tool({
    name: "find_market",
    description:
      "Finds markets by words of their question, outcomes or description, the best match first. Prices are USD per share from 0 to 1, volumes USD. Returns token ids for the other tools.",
    input: {
      search: z.string().min(1).max(200).describe("Words that the market contains"),
      status: z
        .enum(["open", "resolved", "all"])
        .default("all")
        .describe("Only markets of this status"),
      limit: limitTo(20, 5),
    },
    read: async (connection, query) => {
      const answer = await askRows<Market>(connection, "/v1/markets", query);
      const none =
        "No market has all these words and this status: try fewer words, or another status.";
      const reason = answer.data.length === 0 ? none : null;
      return { markets: answer.data.map(toMarketSummary), ...provenance(answer, reason) };
    },
  }),
  tool({
    name: "get_market",
    description:
      "One market: question, outcomes with token ids and prices (USD per share), status, volume (USD) and trades since the first indexed block.",
    input: { market: marketId },
    read: async (connection, { market }) => {
      const answer = await ask<Market>(connection, `/v1/markets/${segment(market)}`);
      return { market: answer.data, ...provenance(answer, describeResult(answer)) };
    },
  }),
  tool({
    name: "get_price",
    description:
      "Price of an outcome token in USD per share, now with 24-hour statistics, or as it was at a position or time (at), from the trades up to then alone.",
    input: {
      token,
      at: z.string().max(40).optional().describe("A seq, or a time as RFC 3339; without it: now"),
    },
    read: async (connection, { token: id, at }) => {
      const path = `/v1/price/${segment(id)}`;
      const answer = await ask<Price | PastPrice>(connection, path, { at });
      const seq = await readPriceSeq(connection, path, answer);
      const final = seq === null ? null : isFinal(seq, answer.meta);
      return { price: answer.data, final, ...provenance(answer, describeNoPrice(answer)) };
    },
  }),
  tool({
    name: "get_candles",
    description:
      "Candles of an outcome token in the order of time: prices in USD per share, volume_shares in shares, volume_usd in USD. Times without trades have no candle. closed is false while a candle can still change. Without start and end: the newest.",
    input: {
      token,
      resolution: z
        .enum(["1m", "5m", "15m", "1h", "4h", "1d"])
        .default("1h")
        .describe("Length of a candle"),
      start: time.optional(),
      end: time.optional(),
      limit: limitTo(200, 48),
    },
    read: async (connection, { token: id, ...query }) => {
      const answer = await askRows<Candle>(connection, `/v1/candles/${segment(id)}`, query);
      const fields = [
        "timestamp",
        "open",
        "high",
        "low",
        "close",
        "volume_shares",
        "volume_usd",
        "trades",
        "closed",
      ] as const;
      const none = "The token exists, but was not traded in this time.";
      const reason = answer.data.length === 0 ? none : null;
      const candles = answer.data.map((row) => pick(row, fields));
      return { candles, ...provenance(answer, reason) };
    },
  }),
  tool({
    name: "list_trades",
    description:
      "Trades, the newest first: price in USD per share, size in shares, value_usd in USD. status is confirmed or finalized; confirmed ones can still be reverted. wallet is the maker or taker. At least one of token, market and wallet narrows the list best.",
    input: {
      token: token.optional(),
      market: marketId.optional(),
      wallet: wallet.optional(),
      side: z.enum(["BUY", "SELL"]).optional().describe("Side of the taker"),
      min_value: z
        .string()
        .max(40)
        .optional()
        .describe("Worth at least this many USD, such as 1000"),
      start: time.optional(),
      end: time.optional(),
      limit: limitTo(100, 20),
      cursor: z.string().max(512).optional().describe("next_cursor of the previous answer"),
    },
    read: async (connection, { token: token_id, market, ...query }) => {
      const condition_id = market && (await toConditionId(connection, market));
      const filters = { ...query, token_id, condition_id, include: "market" };
      const answer = await askRows<Trade>(connection, "/v1/trades", filters);
      const given = { token_id, market, wallet: query.wallet };
      const none = answer.data.length === 0 ? await explainNoTrades(connection, given) : null;
      const fields = [
        "id",
        "seq",
        "timestamp",
        "question",
        "outcome",
        "token_id",
        "side",
        "price",
        "size",
      ] as const;
      const more = ["value_usd", "maker", "taker", "tx_hash", "block_number", "status"] as const;
      return {
        trades: answer.data.map((row) => pick(row, [...fields, ...more])),
        next_cursor: answer.pagination?.next_cursor,
        ...provenance(answer, none),
      };
    },
  }),
  tool({
    name: "get_orderbook",
    description:
      "Order book of an outcome token from the venue, best first: prices in USD per share, sizes in shares. stale says that it may be out of date. Not from the chain.",
    input: { token, depth: limitTo(50, 10) },
    read: async (connection, { token: id, depth }) => {
      const [book, market] = await Promise.all([
        find<OrderBook>(connection, `/v1/orderbook/${segment(id)}`, { depth }),
        find<Market>(connection, `/v1/markets/${segment(id)}`),
      ]);
      const result = market instanceof OddwireError ? null : describeResult(market);
      if (!(book instanceof OddwireError)) {
        const isEmpty = book.data.bids.length + book.data.asks.length === 0;
        const none = isEmpty ? "The venue has no orders of this token now." : null;
        return { orderbook: book.data, ...provenance(book, none, result) };
      }
      if (market instanceof OddwireError) throw book;
      return { orderbook: null, ...provenance(market, `${book.message}.`, result) };
    },
  }),
  tool({
    name: "get_wallet",
    description:
      "Totals of a wallet's trades, its profit and loss, and its largest positions: sizes in shares, amounts in USD.",
    input: { wallet, limit: limitTo(50, 10) },
    adviceOnNotFound:
      "Check the address. Where wallets are not indexed, list_trades with wallet has its trades.",
    read: async (connection, { wallet: address, limit }) => {
      const path = `/v1/wallets/${segment(address)}`;
      const [answer, positions] = await Promise.all([
        ask<GetWallet["answer"]["data"]>(connection, path),
        askRows<Position>(connection, `${path}/positions`, { limit }),
      ]);
      const totals = { ...answer.data, top_markets: answer.data.top_markets.slice(0, limit) };
      const none = "It holds nothing now; its totals are of the past.";
      const more = `It has more positions than these ${limit}.`;
      const isCut = typeof positions.pagination?.next_cursor === "string";
      const reason = positions.data.length === 0 ? none : isCut ? more : null;
      return { wallet: totals, positions: positions.data, ...provenance(answer, reason) };
    },
  }),
  tool({
    name: "get_resolution",
    description:
      "Whether and how a market was resolved: payouts in USD per share by outcome, the winner, the oracle, and the transaction. open: no result was reported up to the indexed block. steps is the time line, oldest first: requested, proposed, disputed, reset, settled, reported, mirror_resolved, with the price that was proposed (1 for the first outcome), who did it, and the bond in USD.",
    input: { market: marketId },
    read: async (connection, { market }) => {
      const path = `/v1/markets/${segment(market)}`;
      const [answer, steps] = await Promise.all([
        ask<Market>(connection, path),
        askRows<ResultStep>(connection, `${path}/resolution`, { limit: stepsMax }),
      ]);
      const fields = [
        "id",
        "question",
        "status",
        "oracle",
        "question_id",
        "end_date",
        "resolved_at",
        "resolution",
      ] as const;
      const { resolution } = answer.data;
      return {
        market: pick(answer.data, fields),
        final: resolution === null ? null : isFinal(resolution.seq, answer.meta),
        steps: steps.data.map((step) => pick(step, stepFields)),
        ...provenance(answer, describeResult(answer)),
      };
    },
  }),
  tool({
    name: "get_coverage",
    description:
      "Which blocks the service has indexed, without a gap, how far it is behind the chain, and whether it is ready. Ask this before you conclude that something did not happen.",
    input: {},
    read: async (connection) => {
      const [answer, ready] = await Promise.all([
        askRows<Market>(connection, "/v1/markets", { limit: 1 }),
        connection.json<object>("/v1/ready", { accepted: [503] }),
      ]);
      return { ready, ...provenance(answer) };
    },
  }),
];

/** Returns the condition id of a market, for filters that take no other id. */
async function toConditionId(connection: Connection, market: string): Promise<string> {
  if (/^0x[^:]*$/i.test(market)) return market;
  return (await ask<Market>(connection, `/v1/markets/${segment(market)}`)).data.id;
}

type TradeIds = Readonly<Record<"token_id" | "market" | "wallet", string | undefined>>;

/**
 * Returns why no trade matches. Throws `NOT_FOUND` for an id that nothing has, so that an agent does not take a wrong id
 * for a market without trades.
 */
async function explainNoTrades(
  connection: Connection,
  { token_id, market, wallet: address }: TradeIds,
): Promise<string> {
  const readMarket = async (id: string) => find<Market>(connection, `/v1/markets/${segment(id)}`);
  if (token_id !== undefined) await ask<Price>(connection, `/v1/price/${segment(token_id)}`);
  const requested = market === undefined ? null : await readMarket(market);
  if (requested instanceof OddwireError) throw requested;
  const tokenMarket = requested && token_id !== undefined ? await readMarket(token_id) : null;
  if (
    tokenMarket !== null &&
    !(tokenMarket instanceof OddwireError) &&
    tokenMarket.data.id !== requested?.data.id
  )
    return `The token is of another market, ${tokenMarket.data.id}.`;
  const filters = { wallet: address, limit: 1 };
  const isNew =
    address !== undefined &&
    (await askRows<Trade>(connection, "/v1/trades", filters)).data.length === 0;
  return isNew ? "This wallet has no indexed trade." : "No trade matches all these filters.";
}

/** Returns what is to be known of a market before its prices and orders are used. */
function describeResult({ data: market, meta }: Answer<Market>): string | null {
  if (market.resolution !== null)
    return `The market was resolved at ${market.resolved_at}: it is no longer traded, and shares are worth their payouts.`;
  if (market.end_date === null || Date.parse(market.end_date) > Date.now()) return null;
  return `The market ended at ${market.end_date}, but no result was reported up to block ${meta.indexed_block}.`;
}

function describeNoPrice({ data, meta }: Answer<Price | PastPrice>): string | null {
  if (data.price !== null) return null;
  const when = "as_of" in data ? "up to then" : "yet";
  return `No trade and no result has set a price ${when}, from block ${meta.first_block} on.`;
}

/** Returns the position of the trade or result that set a price; `null` before the first one. */
async function readPriceSeq(
  connection: Connection,
  path: string,
  { data, meta }: Answer<Price | PastPrice>,
): Promise<number | null> {
  if ("as_of" in data) return data.as_of?.seq ?? null;
  if (data.price_source !== "settlement") return data.last_trade?.seq ?? null;
  const at = meta.indexed_seq ?? 0;
  return (await ask<PastPrice>(connection, path, { at })).data.as_of?.seq ?? null;
}

function toMarketSummary(row: Market): object {
  const tokens = row.tokens.map((one) => pick(one, ["token_id", "outcome", "price"]));
  const fields = [
    "question",
    "id",
    "slug",
    "status",
    "end_date",
    "volume_usd",
    "volume_24h_usd",
  ] as const;
  return { ...pick(row, fields), tokens };
}
