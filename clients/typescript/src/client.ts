import type {
  Activity,
  Cancellation,
  Candle,
  CreateKey,
  Fill,
  GetHealth,
  GetLake,
  GetMetrics,
  GetOrder,
  GetOrderbook,
  GetPrice,
  GetReady,
  GetTransaction,
  GetWallet,
  Holder,
  IssuedKey,
  Key,
  ListActivity,
  ListCancellations,
  ListCandles,
  ListCategories,
  ListEvents,
  ListExchangeEvents,
  ListFills,
  ListHolders,
  ListIpBlocks,
  ListManyCandles,
  ListMarkets,
  ListMatches,
  ListOpenInterest,
  ListPnl,
  ListPositions,
  ListPrices,
  ListResolutions,
  ListResultSteps,
  ListStats,
  ListTags,
  ListTokenTrades,
  ListTotalOpenInterest,
  ListTrades,
  Market,
  Event as MarketEvent,
  Match,
  OpenInterest,
  OrderBook,
  PastPrice,
  Position,
  Price,
  ProfitBucket,
  Resolution,
  ResultStep,
  RevokeKey,
  RotateKey,
  Stats,
  Tag,
  TokenId,
  TotalOpenInterest,
  Trade,
  UnblockIp,
} from "./api.ts";
import { Connection, type ConnectionOptions, type Query } from "./connection.ts";
import { EventStream, type StreamOptions } from "./event-stream.ts";
import { type BookFrame, LocalBook } from "./local-book.ts";
import { Pages } from "./pages.ts";
import type { ChannelRows, StreamFrame } from "./stream-frames.ts";
import { StreamSockets } from "./stream-sockets.ts";

type CandleMeta = ListCandles["answer"]["meta"];
type HolderMeta = ListHolders["answer"]["meta"];
type ExchangeEvent = ListExchangeEvents["answer"]["data"][number];
type IpBlock = ListIpBlocks["answer"]["data"][number];

/**
 * A client of the service, with one method for each endpoint. Lists are iterated with `for await` and read page by
 * page. Errors are `OddwireError`. Works in Node 22 and later and in browsers.
 */
export class OddwireClient {
  readonly #connection: Connection;
  readonly #sockets: StreamSockets;

  constructor(options: ConnectionOptions) {
    this.#connection = new Connection(options);
    this.#sockets = new StreamSockets(this.#connection);
  }

  /** Markets that match all filters. */
  markets(query: ListMarkets["query"] = {}): Pages<Market> {
    return this.#list("/v1/markets", query);
  }

  /** One market, by condition id, token id or slug. */
  async market(id: string): Promise<Market> {
    const path = `/v1/markets/${encodeURIComponent(id)}`;
    return this.#connection.object(path);
  }

  /** Tags of markets with their numbers of markets, the most traded first. */
  tags(query: ListTags["query"] = {}): Pages<Tag> {
    return this.#list("/v1/tags", query);
  }

  /** Categories of markets, like tags. */
  categories(query: ListCategories["query"] = {}): Pages<Tag> {
    return this.#list("/v1/categories", query);
  }

  /** Events with their markets, totals and prices. */
  events(query: ListEvents["query"] = {}): Pages<MarketEvent> {
    return this.#list("/v1/events", query);
  }

  /** One event, by its id, or its id or slug at the venue. */
  async event(id: string): Promise<MarketEvent> {
    const path = `/v1/events/${encodeURIComponent(id)}`;
    return this.#connection.object(path);
  }

  /** Trades of all markets, newest first unless ordered otherwise. */
  trades(query: ListTrades["query"] = {}): Pages<Trade> {
    return this.#list("/v1/trades", query);
  }

  /** Trades of one token. On request they include the inverted trades of its complement. */
  tokenTrades(tokenId: TokenId, query: ListTokenTrades["query"] = {}): Pages<Trade> {
    return this.#list(`/v1/trades/market/${encodeURIComponent(tokenId)}`, query);
  }

  /** Every `OrderFilled` event of the chain. Compute volume from trades instead. */
  fills(query: ListFills["query"] = {}): Pages<Fill> {
    return this.#list("/v1/fills", query);
  }

  /** Matches: the totals that each taker's order got. */
  matches(query: ListMatches["query"] = {}): Pages<Match> {
    return this.#list("/v1/matches", query);
  }

  cancellations(query: ListCancellations["query"] = {}): Pages<Cancellation> {
    return this.#list("/v1/cancellations", query);
  }

  /** Events of the exchanges other than fills. */
  exchangeEvents(query: ListExchangeEvents["query"] = {}): Pages<ExchangeEvent> {
    return this.#list("/v1/exchange-events", query);
  }

  /** Resolutions of markets. */
  resolutions(query: ListResolutions["query"] = {}): Pages<Resolution> {
    return this.#list("/v1/resolutions", query);
  }

  /** All fills of an order, and the events that ended it. */
  async order(orderHash: string): Promise<GetOrder["answer"]["data"]> {
    const path = `/v1/orders/${encodeURIComponent(orderHash)}`;
    return this.#connection.object(path);
  }

  /** Everything that one transaction did. */
  async transaction(txHash: string): Promise<GetTransaction["answer"]["data"]> {
    const path = `/v1/transactions/${encodeURIComponent(txHash)}`;
    return this.#connection.object(path);
  }

  /** What a wallet holds, earned and traded, in total. */
  async wallet(address: string): Promise<GetWallet["answer"]["data"]> {
    const path = `/v1/wallets/${encodeURIComponent(address)}`;
    return this.#connection.object(path);
  }

  /** What a wallet holds, at which cost, and what it earned. */
  positions(address: string, query: ListPositions["query"] = {}): Pages<Position> {
    return this.#list(`/v1/wallets/${encodeURIComponent(address)}/positions`, query);
  }

  /** What a wallet did: trades, splits, merges, redemptions, conversions and transfers, newest first. */
  activity(address: string, query: ListActivity["query"] = {}): Pages<Activity> {
    return this.#list(`/v1/wallets/${encodeURIComponent(address)}/activity`, query);
  }

  /** The profit of a wallet over time. */
  pnl(address: string, query: ListPnl["query"] = {}): Pages<ProfitBucket> {
    return this.#list(`/v1/wallets/${encodeURIComponent(address)}/pnl`, query);
  }

  /** How a market got its result: requests, proposals, disputes, settlements and reports, oldest first. */
  resultSteps(marketId: string, query: ListResultSteps["query"] = {}): Pages<ResultStep> {
    return this.#list(`/v1/markets/${encodeURIComponent(marketId)}/resolution`, query);
  }

  /** Who holds the outcomes of a market, the largest first. */
  holders(marketId: string, query: ListHolders["query"] = {}): Pages<Holder, HolderMeta> {
    return this.#list(`/v1/markets/${encodeURIComponent(marketId)}/holders`, query);
  }

  /** The supply and open interest of a market over time. */
  openInterest(marketId: string, query: ListOpenInterest["query"] = {}): Pages<OpenInterest> {
    return this.#list(`/v1/markets/${encodeURIComponent(marketId)}/open-interest`, query);
  }

  /** The collateral behind all positions over time. */
  totalOpenInterest(query: ListTotalOpenInterest["query"] = {}): Pages<TotalOpenInterest> {
    return this.#list("/v1/open-interest", query);
  }

  /** The price of a token, its last 24 hours and the price of its complement. */
  async price(tokenId: TokenId, query: Omit<GetPrice["query"], "at"> = {}): Promise<Price> {
    const path = `/v1/price/${encodeURIComponent(tokenId)}`;
    return this.#connection.object(path, { query });
  }

  /** The price of a token as it was at a `seq` or a time, by the trades up to then alone. */
  async priceAt(
    tokenId: TokenId,
    at: string | number,
    options: Omit<GetPrice["query"], "at"> = {},
  ): Promise<PastPrice> {
    const path = `/v1/price/${encodeURIComponent(tokenId)}`;
    const query = { ...options, at };
    return this.#connection.object(path, { query });
  }

  /** The prices of up to 100 tokens as they were at a `seq` or a time. Unknown tokens are left out. */
  async pricesAt(
    tokenIds: readonly TokenId[],
    at: string | number,
    options: Omit<ListPrices["query"], "token_ids" | "at"> = {},
  ): Promise<readonly PastPrice[]> {
    const query = { ...options, token_ids: tokenIds, at };
    return this.#connection.rows("/v1/price", { query });
  }

  /** The order book of a token, best first. */
  async orderBook(tokenId: TokenId, query: GetOrderbook["query"] = {}): Promise<OrderBook> {
    const path = `/v1/orderbook/${encodeURIComponent(tokenId)}`;
    return this.#connection.object(path, { query });
  }

  /** The prices of up to 100 tokens. Unknown tokens are left out. */
  async prices(
    tokenIds: readonly TokenId[],
    options: Omit<ListPrices["query"], "token_ids" | "at"> = {},
  ): Promise<readonly Price[]> {
    const query = { ...options, token_ids: tokenIds };
    return this.#connection.rows("/v1/price", { query });
  }

  /** Candles of a token, oldest first unless ordered otherwise. */
  candles(tokenId: TokenId, query: ListCandles["query"] = {}): Pages<Candle, CandleMeta> {
    return this.#list(`/v1/candles/${encodeURIComponent(tokenId)}`, query);
  }

  /** The totals of the platform by hour or by day. */
  stats(query: ListStats["query"] = {}): Pages<Stats> {
    return this.#list("/v1/stats", query);
  }

  /** The newest candles of up to 50 tokens, oldest first. Unknown tokens are left out. */
  async manyCandles(
    tokenIds: readonly TokenId[],
    options: Omit<ListManyCandles["query"], "token_ids"> = {},
  ): Promise<ListManyCandles["answer"]["data"]> {
    const query = { ...options, token_ids: tokenIds };
    return this.#connection.rows("/v1/candles", { query });
  }

  /**
   * The events of a channel as they happen. With `resumeFrom`, everything after that `seq` comes first. Streams share
   * connections.
   */
  stream<Type extends keyof ChannelRows>(
    options: StreamOptions<Type>,
  ): EventStream<ChannelRows[Type]> {
    return new EventStream(this.#sockets, this.#connection.backoff, options);
  }

  /**
   * Yields the order book of a token after every change. It is always the same object, verified by the checksum of
   * every change and fetched again after a mismatch.
   */
  async *followBook(
    tokenId: TokenId,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<LocalBook, void, undefined> {
    const book = new LocalBook();
    const channel = { type: "orderbook", token_id: tokenId } as const;
    const isSound = (frame: StreamFrame<unknown>): boolean => book.take(frame as BookFrame);
    for await (const { type } of this.stream({ ...options, channel, isSound })) {
      if (type === "snapshot" || type === "event") yield book;
    }
  }

  async health(): Promise<GetHealth["answer"]> {
    return this.#connection.json("/v1/health");
  }

  /** Whether the service follows the chain closely, and the reason if it does not. */
  async ready(): Promise<GetReady["answer"]> {
    return this.#connection.json("/v1/ready", { accepted: [503] });
  }

  async metrics(query: GetMetrics["query"] = {}): Promise<GetMetrics["answer"]> {
    return this.#connection.json("/v1/metrics", { query });
  }

  /** The metrics in the text format of Prometheus. */
  async prometheusMetrics(): Promise<string> {
    return this.#connection.text("/v1/metrics/prometheus");
  }

  /** Keys, newest first, without their values. This method and all below need an admin key. */
  keys(query: { readonly limit?: number | undefined } = {}): Pages<Key> {
    return this.#list("/v1/keys", query);
  }

  async key(id: string): Promise<Key> {
    const path = `/v1/keys/${encodeURIComponent(id)}`;
    return this.#connection.object(path);
  }

  /** Creates a key. Only this answer has its value. */
  async createKey(body: CreateKey["body"]): Promise<IssuedKey> {
    const options = { method: "POST", body } as const;
    return this.#connection.object("/v1/keys", options);
  }

  /** Gives a key a new value. The old value works until the grace period ends, if one is given. */
  async rotateKey(id: string, body: RotateKey["body"] = {}): Promise<IssuedKey> {
    const path = `/v1/keys/${encodeURIComponent(id)}/rotate`;
    const options = { method: "POST", body } as const;
    return this.#connection.object(path, options);
  }

  /** Revokes a key immediately and for good. */
  async revokeKey(id: string): Promise<RevokeKey["answer"]> {
    return this.#connection.json(`/v1/keys/${encodeURIComponent(id)}`, { method: "DELETE" });
  }

  /** The IPs that are blocked now. */
  ipBlocks(query: ListIpBlocks["query"] = {}): Pages<IpBlock> {
    return this.#list("/v1/ip-blocks", query);
  }

  async unblockIp(ip: string): Promise<UnblockIp["answer"]> {
    return this.#connection.json(`/v1/ip-blocks/${encodeURIComponent(ip)}`, { method: "DELETE" });
  }

  /** The manifest of the lake of the service: the days, blocks, rows, sizes and hashes of its files. */
  async lake(): Promise<GetLake["answer"]> {
    return this.#connection.json("/v1/lake");
  }

  #list<Row, PageMeta>(path: string, query: Query): Pages<Row, PageMeta> {
    return new Pages(this.#connection, path, query);
  }
}
