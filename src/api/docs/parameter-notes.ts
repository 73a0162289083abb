/**
 * Descriptions of parameters, by name. An entry that begins with a path is for an endpoint at which the name has another
 * meaning. A parameter needs no entry if its schema has a description, or if the field of this name has the same one.
 */

const times = "Epoch seconds, epoch milliseconds (13 digits), RFC 3339 or a date (midnight UTC)";

export const parameterNotes: Readonly<Record<string, string>> = {
  "/v1/wallets/{address}/positions event_id": "Only positions in markets of this event",
  "/v1/wallets/{address}/positions min_size": "Only positions of at least this many shares",
  "/v1/wallets/{address}/positions order": "Descending or ascending by the sort key",
  "/v1/wallets/{address}/positions sort": "What the positions are ordered by",
  "/v1/wallets/{address}/positions status":
    "open: not resolved; redeemable: pays; lost: pays nothing; closed: no shares left",
  "/v1/wallets/{address}/activity kind": "Only these kinds of activity",
  "/v1/wallets/{address}/activity side": "Only trades in which the wallet was on this side",
  "/v1/wallets/{address}/activity role": "Only trades in which the wallet had this role",
  "/v1/wallets/{address}/activity min_value":
    "Only where at least this much collateral was paid or received, in USD",
  "/v1/markets/{id}/holders id": "Condition id, token id or slug of the market",
  "/v1/markets/{id}/holders min_size": "Only holders of at least this many shares",
  "/v1/markets/{id}/resolution id": "Condition id, token id or slug of the market",
  "/v1/markets/{id}/open-interest id": "Condition id, token id or slug of the market",
  "/v1/stats category":
    "Only markets of these categories of the venue, in any case; at most 50,000 that were traded since the start",
  "/v1/stats builder":
    "Only orders with this builder code, a hash of 64 hex digits: trades and volume of makers' orders, fees of all",
  "/v1/stats exchange_version":
    "Only this generation of the exchanges: 1 or 2 (CTF Exchange V1, V2), or 3 (Protocol V2)",
  day: "The folder of a day (UTC), as in the manifest",
  part: "The name of the file, as in the manifest",
  table: "The table, as in the manifest",
  active: "true: markets that can still trade",
  address: "The wallet, an address of 40 hex digits",
  after_seq: "Only rows after this position",
  batch: "1: data frames are arrays, flushed at most every 50 ms",
  builder: "Only orders with this builder code, a hash of 64 hex digits",
  category: "Markets of one of these categories of the venue, in any case",
  compress: "zlib: data frames are binary, each a complete zlib stream",
  condition_id: "Only of this market: a condition id of 64 hex digits, or 62 of Protocol V2",
  created_after: `Markets created at this time or later. ${times}`,
  created_before: `Markets created before this time. ${times}`,
  cursor: "next_cursor of the previous page, with the same filters",
  depth: "Levels of each side",
  end: `Rows before this time. ${times}`,
  end_after: `Markets that end at this time or later. ${times}`,
  end_before: `Markets that end before this time. ${times}`,
  event_id: "Markets of one of these events, by the id of the event or the venue's id",
  at: "The price as it was at this moment, by the trades at or before it alone: a `seq`, or a time. A number is a time if it is one of the covered time, else a `seq`",
  exchange: "Only of this kind of exchange contract",
  fields: "Sends only these fields of each row, in this order",
  fill: "previous: buckets without trades repeat the last price; none: they are left out",
  format:
    "Response format. All formats but `json` return every row, up to the row cap of the service",
  from_block: "Rows of this block or later",
  id: "Identity of the key",
  include: "market: adds question, slug and event_id of the market to each row",
  include_contracts: "Also contracts that hold tokens of others, such as exchanges and fee modules",
  include_pnl: "Adds the average cost and profit of each holder; limit is at most 100 then",
  outcome_index: "Only this outcome",
  include_mirror:
    "Also the same outcome in the other ledger: of the mirror in Protocol V2, or of the legacy market",
  include_complement: "Also the other token's trades, inverted: price 1 - p, a buy is a sell",
  kind: "Only events of this kind",
  maker: "Only of this maker, an address of 40 hex digits",
  match_type: "Only trades of this match type",
  max_price: "Trades at this price or lower, in USD per share",
  max_size: "Trades of at most this many shares",
  min_price: "Trades at this price or higher, in USD per share",
  min_seq:
    "A position that the response must include, such as meta.indexed_seq of an earlier one; a node that is behind waits up to 2 seconds, then returns 503",
  min_size: "Trades of at least this many shares",
  min_value: "Trades worth at least this, in USD",
  min_volume: "With at least this volume, in USD",
  min_volume_24h: "With at least this volume in the last 24 hours, in USD",
  neg_risk: "true: only neg-risk markets; false: only others",
  neg_risk_market_id: "Only of this neg-risk event, a hash of 64 hex digits",
  order: "desc: newest or highest first; asc: the reverse",
  order_hash: "The order, a hash of 64 hex digits",
  resolution: "Length of a bucket",
  search:
    "Markets with all of these words; the best matches come first, and `sort` orders matches of equal rank. A word that occurs in no market matches one that differs by one typo",
  side: "Only trades whose taker was on this side",
  slug: "Markets with one of these names of the venue",
  sort: "What the list is ordered by; a search orders by rank first. Rows without the value come last in both orders",
  source: "pair: also trades of the other token, inverted; own: of this token only",
  start: `Rows at this time or later. ${times}`,
  status: "finalized: only rows that cannot be reverted",
  tag: "Markets with one of these tags of the venue, in any case",
  taker: "Only of this taker, an address of 40 hex digits",
  to_block: "Rows up to this block, included",
  token_id:
    "Outcome token: a decimal below 2^256, or a slug or condition id with an outcome (label or index): who-wins:yes",
  token_ids:
    "Up to 100 outcome tokens, each a decimal below 2^256, or a slug or condition id with an outcome (label or index): who-wins:yes",
  tx_hash: "The transaction, a hash of 64 hex digits",
  user: "Only of this user, an address of 40 hex digits",
  wallet: "Only with this wallet as maker or taker, an address of 40 hex digits",
  "/v1/candles token_ids":
    "Up to 50 outcome tokens, each a decimal below 2^256, or a slug or condition id with an outcome (label or index): who-wins:yes",
  "/v1/markets/{id} id": "Condition id, token id or slug",
  "/v1/events/{id} id": "A neg_risk_market_id, or the id or slug of the event at the venue",
  "/v1/markets include":
    "event: adds the field event, with the id, title and slug of the event of each market",
  "/v1/metrics include": "history: adds the field history, with readings of the last hour",
  "/v1/markets status": "Only markets in this state",
  "/v1/trades sort":
    "time: by position on the chain; value: by value, of at most 7 days. Without `start`, of the 7 days before `end`",
  "/v1/trades/market/{token_id} sort":
    "time: by position on the chain; value: by value, of at most 7 days. Without `start`, of the 7 days before `end`",
  "/v1/fills side": "Only fills of orders on this side",
  "/v1/fills min_value": "Fills whose order paid or received at least this, in USD",
  "/v1/events status": "Only events in this state; one is resolved when all of its markets are",
};
