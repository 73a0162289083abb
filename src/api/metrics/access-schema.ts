import { Type } from "typebox";
import { amount, block, count, flag, gauge, measured, prefixed } from "./metric-field.ts";

/** What the nodes of a cluster agree on, as one of them knows it. */
export const accessSchema = Type.Object({
  key_version: count.gauge("The version of API keys in force"),
  keys_verified: count.gauge("1 while keys are known to be current; 0 refuses them with 503"),
  live_nodes: count.gauge("Nodes that share limits and keys"),
  limits_inexact_seconds: measured.counter(
    "Seconds in which limits were not exact: without Redis, or until it had a whole minute of requests",
    "limits_inexact_seconds_total",
  ),
});

/** The parts of a cluster, as one of its processes knows them. */
export const clusterSchema = Type.Object(
  {
    is_active: flag.gauge("1 while this process is the active indexer, else 0", "indexer_active"),
    active_node: Type.Union(
      [Type.String(), Type.Null()],
      gauge("Always 1; the label names the active indexer", "indexer_active_info", {
        label: "node",
      }),
    ),
    term: block.gauge("How often an indexer has become active since Redis was empty", "feed_term"),
    feed_age_seconds: measured.gauge("On a serving node, since the newest message of the indexer"),
    feed_has_hole: flag.gauge(
      "1 while a serving node misses blocks of the feed and follows final facts alone, else 0",
      "feed_hole_state",
    ),
    open_claims: count.gauge(
      "Claims of blocks that the active indexer has not committed yet",
      "indexer_open_claims",
    ),
    redis_up: flag.gauge("1 while this process is connected to Redis, else 0"),
    redis_down_seconds: amount.counter("Seconds without Redis since the start of the process"),
  },
  prefixed(""),
);
