import { Type } from "typebox";
import { count, counter, gauge, measured } from "./metric-field.ts";

/** What the nodes of a cluster agree on, as one of them knows it. */
export const accessSchema = Type.Object({
  key_version: count(gauge("access_key_version", "The newest change of API keys in force")),
  keys_verified: count(
    gauge("access_keys_verified", "1 while keys are known to be current; 0 refuses them with 503"),
  ),
  live_nodes: count(gauge("access_live_nodes", "Nodes that share limits and keys")),
  limits_inexact_seconds: measured(
    counter(
      "limits_inexact_seconds_total",
      "Seconds without Redis, or until it has a whole window",
    ),
  ),
});
