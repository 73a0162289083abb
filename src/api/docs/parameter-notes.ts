/**
 * Descriptions and examples of parameters, by name. An entry that begins with a path is for an endpoint at which the
 * name has another meaning. A parameter whose schema has a description needs no entry.
 */

import { address, hash, type Note, time, token } from "./field-notes.ts";

const times = "Epoch seconds, epoch milliseconds (13 digits) or RFC 3339";

export const parameterNotes: Readonly<Record<string, Note>> = {
  active: ["true: markets that can still trade", true],
  address: ["The wallet, an address of 40 hex digits", address],
  after_seq: ["Only rows after this position", 71_250_123_000_345],
  batch: ["1: data frames are arrays, flushed at most every 50 ms", "1"],
  category: ["Markets of one of these categories of the venue, in any case", ["politics"]],
  compress: ["zlib: data frames are binary, each a complete zlib stream", "zlib"],
  condition_id: [
    "Only of this market: a condition id of 64 hex digits, or 62 in generation 3",
    hash,
  ],
  created_after: [`Markets created at this time or later. ${times}`, time],
  created_before: [`Markets created before this time. ${times}`, time],
  cursor: ["next_cursor of the previous page, with the same filters", "eyJwIjoxfQ"],
  depth: ["Levels of each side", 50],
  end: [`Rows before this time. ${times}`, time],
  end_after: [`Markets that end at this time or later. ${times}`, time],
  end_before: [`Markets that end before this time. ${times}`, time],
  event_id: ["Markets of one of these events, by the venue's id", ["903193"]],
  exchange: ["Only of this kind of exchange contract", "neg_risk"],
  fill: [
    "previous: buckets without trades repeat the last price; none: they are left out",
    "previous",
  ],
  format: ["The other formats hold every row, up to the row cap of the service", "json"],
  from_block: ["Rows of this block or later", 71_250_000],
  id: ["Identity of the key", "0f6944c4-c339-4916-b35d-054d2ac053e8"],
  include: ["market: adds question, slug and event_id of the market to each row", "market"],
  include_complement: [
    "Also the other token's trades, inverted: price 1 - p, a buy is a sell",
    true,
  ],
  ip: ["The blocked address; IPv6 as its /64", "203.0.113.7"],
  kind: ["Only events of this kind", "order_cancelled"],
  limit: ["The most rows of a page", 100],
  maker: ["Only of this maker, an address of 40 hex digits", address],
  match_type: ["Only trades of this match type", "complementary"],
  max_size: ["Trades of at most this many shares", "1000"],
  min_seq: [
    "A position that the response must include, such as meta.indexed_seq of an earlier one; a node that is behind waits up to 2 seconds, then returns 503",
    71_250_123_999_999,
  ],
  min_size: ["Trades of at least this many shares", "12.5"],
  min_value: ["Trades worth at least this, in USD", "1000"],
  min_volume: ["With at least this volume, in USD", "10000"],
  min_volume_24h: ["With at least this volume in the last 24 hours, in USD", "1000"],
  neg_risk: ["true: only neg-risk markets; false: only others", true],
  neg_risk_market_id: ["Only of this neg-risk event, a hash of 64 hex digits", hash],
  order: ["desc: newest or highest first; asc: the reverse", "asc"],
  order_hash: ["The order, a hash of 64 hex digits", hash],
  resolution: ["Length of a bucket", "1h"],
  search: [
    "Markets with all of these words; the best matches come first, and `sort` orders matches of equal rank. A word that occurs in no market matches one that differs by one typo",
    "world cup",
  ],
  side: ["Only trades whose taker was on this side", "BUY"],
  slug: ["Markets with one of these names of the venue", ["will-it-rain-in-paris-on-may-1"]],
  sort: ["What the list is ordered by; a search orders by rank first", "volume"],
  source: ["pair: also trades of the other token, inverted; own: of this token only", "pair"],
  start: [`Rows at this time or later. ${times}`, time],
  status: ["finalized: only rows that cannot be reverted", "finalized"],
  tag: ["Markets with one of these tags of the venue, in any case", ["weather"]],
  taker: ["Only of this taker, an address of 40 hex digits", address],
  to_block: ["Rows up to this block, included", 71_260_000],
  token_id: ["Outcome token, a decimal below 2^256", token],
  token_ids: ["Up to 100 outcome tokens, decimals below 2^256", [token]],
  tx_hash: ["The transaction, a hash of 64 hex digits", hash],
  user: ["Only of this user, an address of 40 hex digits", address],
  wallet: ["Only with this wallet as maker or taker, an address of 40 hex digits", address],
  "/v1/markets/{id} id": ["Condition id, token id or slug", "will-it-rain-in-paris-on-may-1"],
  "/v1/events/{id} id": [
    "A neg_risk_market_id, or the id or slug of the event at the venue",
    "903193",
  ],
  "/v1/markets include": [
    "event: adds the field event, with the id, title and slug of the event of each market",
    "event",
  ],
  "/v1/markets status": ["Only markets in this state", "open"],
  "/v1/fills side": ["Only fills of orders on this side", "BUY"],
  "/v1/fills min_value": ["Fills whose order paid or received at least this, in USD", "1000"],
  "/v1/events status": [
    "Only events in this state; one is resolved when all of its markets are",
    "open",
  ],
};
