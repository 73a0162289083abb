import { closeOnError } from "../../base/close-on-error.ts";
import { redisLimits } from "../../base/config/cluster-limits.ts";
import { accessLimits, webLimits } from "../../base/config/limits.ts";
import { AppError, toError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { RedisConnection } from "../../base/redis/redis-connection.ts";
import { redisNames } from "../../base/redis/redis-names.ts";
import { roundToThousandths } from "../../base/round.ts";
import type { Engine } from "../../storage/engine/engine.ts";
import { AccessAudit } from "../access-audit.ts";
import type { AccessMetrics, AccessStore } from "../access-store.ts";
import type { KeysOptions } from "../keys.ts";
import { ClusterClock } from "./cluster-clock.ts";
import { ClusterIpBlocks } from "./cluster-ip-blocks.ts";
import { ClusterKeys } from "./cluster-keys.ts";
import { ClusterWindow, type WindowBounds, type WithoutRedis } from "./cluster-window.ts";
import { Membership, type RedisParts } from "./membership.ts";
import { WindowClient } from "./window-client.ts";

/** The configuration of a node, and where the state that nodes share is stored. */
export type ClusterAccessOptions = KeysOptions & {
  /** A connection to the cluster's database that only keys use. `close` closes it. */
  readonly engine: Engine;
  readonly redisUrl: string;
  /** The name of that database, by which Redis knows the cluster. */
  readonly database: string;
  readonly limitsWithoutRedis: Exclude<WithoutRedis, "full">;
  /** Whether this process serves requests. A revocation is acknowledged only after every such node has applied it. */
  readonly isNode: boolean;
  /** The length of the windows of keys and IPs; a minute by default. */
  readonly windowMs?: number;
  /** Only tests replace it. */
  readonly clusterClock?: ClusterClock;
  /** How long a request waits for Redis; `redisLimits.commandTimeoutMs` by default. */
  readonly windowTimeoutMs?: number;
  readonly log: Log;
};

type Parts = ClusterAccessOptions &
  RedisParts & {
    readonly clock: ClusterClock;
    readonly membership: Membership;
    readonly keys: ClusterKeys;
  };

function toSeconds(ms: number | null): number | null {
  return ms === null ? null : roundToThousandths(ms / 1000);
}

/** The access store of a cluster: keys are in ClickHouse; request counts, offenses and blocked IPs in Redis. */
export class ClusterAccess implements AccessStore {
  readonly keys: ClusterKeys;
  readonly ipBlocks: ClusterIpBlocks;
  readonly audit: AccessAudit;
  readonly keyWindow: ClusterWindow;
  readonly ipWindow: ClusterWindow;
  readonly offenseWindow: ClusterWindow;
  readonly #parts: Parts;
  readonly #windows: WindowClient;
  #timers: readonly NodeJS.Timeout[] = [];
  #isFollowing = false;
  #isClosed = false;
  readonly #failing = new Set<string>();

  private constructor(parts: Parts) {
    const { redis, names, clock, membership, log, limitsWithoutRedis } = parts;
    const shared = { redis, names, clock };
    const { keyWindow, ipWindow, offenseWindow } = webLimits;
    const { windowMs = keyWindow.windowMs } = parts;
    this.#parts = parts;
    this.keys = parts.keys;
    this.audit = new AccessAudit(log);
    this.ipBlocks = new ClusterIpBlocks(shared);
    const timeoutMs = parts.windowTimeoutMs ?? redisLimits.commandTimeoutMs;
    const client = new WindowClient({ ...shared, nodeId: membership.id, windowMs, timeoutMs });
    this.#windows = client;
    const open = (bounds: WindowBounds, kind: string, withoutRedis: WithoutRedis) =>
      new ClusterWindow({ ...bounds, client, kind, withoutRedis });
    this.keyWindow = open({ ...keyWindow, windowMs }, "key", limitsWithoutRedis);
    this.ipWindow = open({ ...ipWindow, windowMs }, "ip", "share");
    this.offenseWindow = open(offenseWindow, "offense", "full");
  }

  /**
   * Reads the keys and joins the cluster. Throws `ConfigError` for a wrong pepper, and `SERVICE_UNAVAILABLE` without
   * ClickHouse. Redis can become available later.
   */
  static async open(options: ClusterAccessOptions): Promise<ClusterAccess> {
    const { redisUrl: url, database, log, isNode } = options;
    const { clusterClock: clock = new ClusterClock(options.clock, log) } = options;
    const redis = await RedisConnection.open({ url, log });
    return closeOnError(redis, async () => {
      const shared = { redis, names: redisNames(database), clock };
      const membership = new Membership({ ...shared, isNode });
      const keys = await ClusterKeys.open({ ...options, ...shared, membership });
      const access = new ClusterAccess({ ...options, ...shared, membership, keys });
      await access.#join();
      return access;
    });
  }

  get metrics(): AccessMetrics {
    return {
      key_version: this.keys.version,
      keys_verified: this.keys.isVerified ? 1 : 0,
      live_nodes: this.#windows.liveNodes,
      clock_offset_seconds: toSeconds(this.#parts.clock.differenceMs),
      limits_inexact_seconds: roundToThousandths(this.#windows.inexactSeconds),
    };
  }

  get clockDetail(): string {
    return this.#parts.clock.detail;
  }

  get refusal(): string | null {
    if (!this.keys.isVerified) return "keys cannot be checked, so requests with a key are refused";
    if (!this.keyWindow.isRefusing) return null;
    return "requests with a key are refused until Redis counts them exactly";
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const timer of this.#timers) clearInterval(timer);
    await this.#guarded("use of keys", () => this.keys.flush());
    await this.#guarded("IP blocks", () => this.ipBlocks.follow());
    this.keys.close();
    await this.#parts.membership.leave();
    this.#parts.redis.close();
    await this.#parts.engine.close();
  }

  async #join(): Promise<void> {
    await this.#follow();
    const flush = () => this.#guarded("use of keys", () => this.keys.flush());
    this.#timers = [
      setInterval(() => void this.#follow(), accessLimits.renewMs).unref(),
      setInterval(() => void flush(), webLimits.accessFlushMs).unref(),
    ];
  }

  /** Confirms that the keys are current, from ClickHouse and from Redis. Either is enough. */
  async #follow(): Promise<void> {
    await Promise.all([
      this.#guarded("keys", () => this.keys.refresh()),
      this.#guarded("Redis", () => this.#renew()),
    ]);
  }

  async #renew(): Promise<void> {
    const { redis, names, membership } = this.#parts;
    if (!redis.isUp) throw new AppError("SERVICE_UNAVAILABLE", "Redis is not connected");
    const announced = () => void this.#guarded("Redis", () => this.#catchUp());
    if (!this.#isFollowing) await redis.run((client) => client.subscribe(names.channel, announced));
    this.#isFollowing = true;
    const requestedAtMs = this.#parts.clock.monotonicMs();
    const snapshot = await membership.renew(this.keys.version);
    this.#parts.clock.measure("Redis", snapshot.timeMs, requestedAtMs);
    this.#windows.seen(snapshot);
    this.keys.confirmed(snapshot, requestedAtMs);
    await this.ipBlocks.follow();
    if (snapshot.announcedVersion > this.keys.version) await this.#catchUp();
  }

  /** Applies an announced version of the keys, and confirms that this node has it. */
  async #catchUp(): Promise<void> {
    if (this.#isClosed) return;
    await this.#guarded("keys", () => this.keys.refresh());
    this.#windows.seen(await this.#parts.membership.renew(this.keys.version));
  }

  /** Runs `work`. The next round retries a failure, which is logged once until the work succeeds again. */
  async #guarded(part: string, work: () => Promise<void>): Promise<void> {
    const { log } = this.#parts;
    try {
      await work();
      if (this.#failing.delete(part)) log.info({ part }, "access is synchronized again");
    } catch (thrown) {
      if (part === "Redis") this.#windows.lost();
      if (this.#isClosed || this.#failing.has(part)) return;
      this.#failing.add(part);
      const error = toError(thrown);
      log.error({ part, err: error.cause ?? error }, "access could not be synchronized; retrying");
    }
  }
}
