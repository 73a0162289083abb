import type { AccessAudit } from "./access-audit.ts";
import type { IpBlocks } from "./ip-blocks.ts";
import type { Keys } from "./keys.ts";
import type { RateWindow } from "./rate-window.ts";

/** The metrics of access control in a cluster, as this node knows it. */
export type AccessMetrics = {
  /** The newest version of the key log that this node has applied. */
  readonly key_version: number;
  /** 1 if this node knows that its copy of the keys is current, else 0. */
  readonly keys_verified: number;
  readonly live_nodes: number;
  /** The largest difference between our clock and that of Redis or ClickHouse; `null` before the first answer. */
  readonly clock_offset_seconds: number | null;
  /** Seconds since the start during which rate limits were not exact. */
  readonly limits_inexact_seconds: number;
};

/**
 * Keys, rate limits and IP blocks: of one process (`local/`), or shared by all nodes of a cluster (`cluster/`). The
 * contract is the same. In a cluster, operations on shared state take a round trip.
 */
export type AccessStore = {
  readonly keys: Keys;
  readonly ipBlocks: IpBlocks;
  readonly audit: AccessAudit;
  /** `null` when the service runs in one process. */
  readonly metrics: AccessMetrics | null;
  /** Why every request with a key is refused; `null` when none is refused for that reason. */
  readonly refusal: string | null;
  /** How our clock compares with the servers of the cluster; `null` when the service runs in one process. */
  readonly clockDetail: string | null;
  /** Counts requests with a key, by the id of the key. */
  readonly keyWindow: RateWindow;
  /** Counts requests without a key, by `toIpBucket` of the IP. */
  readonly ipWindow: RateWindow;
  /** Counts failed authentications and abuse, by the reason and `toIpBucket` of the IP. */
  readonly offenseWindow: RateWindow;
  /** Writes unsaved data if storage is available, then closes. A second call does nothing. */
  close(): Promise<void>;
};
