import { Type } from "typebox";
import { amount, block, count, flag, gauge, measured } from "./metric-field.ts";

/** What the nodes of a cluster agree on, as one of them knows it. */
export const accessSchema = Type.Object({
  key_version: count.gauge("access_key_version", "The version of API keys in force"),
  keys_verified: count.gauge(
    "access_keys_verified",
    "1 while keys are known to be current; 0 refuses them with 503",
  ),
  live_nodes: count.gauge("access_live_nodes", "Nodes that share limits and keys"),
  limits_inexact_seconds: measured.counter(
    "limits_inexact_seconds_total",
    "Seconds in which limits were not exact: without Redis, or until it had a whole minute of requests",
  ),
});

/** The parts of a cluster, as one of its processes knows them. */
export const clusterSchema = Type.Object({
  is_active: flag.gauge("indexer_active", "1 while this process is the active indexer, else 0"),
  active_node: Type.Union(
    [Type.String(), Type.Null()],
    gauge("indexer_active_info", "Always 1; the label names the active indexer", "node"),
  ),
  term: block.gauge("feed_term", "How often an indexer has become active since Redis was empty"),
  feed_age_seconds: measured.gauge(
    "feed_age_seconds",
    "On a serving node, since the newest message of the indexer",
  ),
  feed_has_hole: flag.gauge(
    "feed_hole_state",
    "1 while a serving node misses blocks of the feed and follows final facts alone, else 0",
  ),
  open_claims: count.gauge(
    "indexer_open_claims",
    "Claims of blocks that the active indexer has not committed yet",
  ),
  redis_up: flag.gauge("redis_up", "1 while this process is connected to Redis, else 0"),
  redis_down_seconds: amount.counter(
    "redis_down_seconds_total",
    "Seconds without Redis since the start of the process",
  ),
});
