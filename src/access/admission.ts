import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { BoundedCounts } from "../base/bounded-counts.ts";
import { webLimits } from "../base/config/limits.ts";
import { AppError } from "../base/errors.ts";
import { invalid } from "../base/input/compile-reader.ts";
import { IpRanges, parseIpAddress, toIpBucket } from "../base/ip-address.ts";
import type { LimitStatus } from "../base/sliding-window.ts";
import { type Awaitable, thenMaybe } from "../base/time/awaitable.ts";
import type { Clock } from "../base/time/clock.ts";
import type { AccessStore } from "./access-store.ts";
import type { VerifiedKey } from "./api-key.ts";
import { getClientIp } from "./client-ip.ts";
import type { IpBlock } from "./ip-blocks.ts";
import { IpGuard } from "./ip-guard.ts";
import { refusedStatus } from "./rate-window.ts";

/**
 * The access class of a route. `public` needs no key and counts by IP; `read` and `metrics` need any key, `admin` an admin key.
 * `probe` is public and `unblock` needs an admin key; blocked IPs can call both.
 * `optional` is for unknown paths and methods: a key is used if one is sent. `upgrade` is the same for WebSockets.
 *
 * Browsers send three kinds of requests without the key of their page: a `preflight` before each URL that is read
 * with a key; an `upgrade`, after which the key follows in a frame; and one for each `file` that a page loads. Their
 * responses show the limit of the IP, but each kind has a limit of its own. So a page that was admitted works.
 */
export type Access =
  | "public"
  | "probe"
  | "optional"
  | "file"
  | "upgrade"
  | "preflight"
  | "read"
  | "metrics"
  | "admin"
  | "unblock";

/** The caller of a request: its IP and key, its rate limit, and the reason if it is refused. */
export type Caller = {
  readonly ip: string;
  /** `null` without a key and for an invalid key. */
  readonly key: VerifiedKey | null;
  readonly limitStatus: LimitStatus;
  readonly refusal: AppError | null;
  /** When the request arrived, in milliseconds of the monotonic clock. */
  readonly startedAtMs: number;
};

/** The client's IP, and the bucket that its requests are counted in (`toIpBucket`). */
type Sender = { readonly ip: string; readonly bucket: string };
type TimedSender = Sender & Pick<Caller, "startedAtMs">;

type RequestHead = Pick<IncomingMessage, "socket" | "headers">;

type AdmissionParts = {
  readonly access: Omit<AccessStore, "metrics" | "refusal" | "clockDetail" | "close">;
  readonly clock: Clock;
  /** See `IpGuard`. */
  readonly failuresMax: number;
  readonly trustedProxies: readonly string[];
  readonly connectionsPerIp: number;
  /** The requests without a key of one IP, in any 60 s. */
  readonly requestsPerIp?: number;
  /** Whether `read` routes accept callers without a key, within the limit of their IP. */
  readonly isPublicRead: boolean;
  /** The same for `metrics` routes; `false` by default. */
  readonly isPublicMetrics?: boolean;
};

/** Separate limits per IP for requests that are exempt from the general one, per minute. */
const separateLimits = {
  preflight: webLimits.preflightsPerMinute,
  upgrade: webLimits.upgradesPerMinute,
  file: webLimits.filesPerMinute,
} as const;

/** Decides whether to serve a request, before any other work is done for it. Its methods never throw. */
export class Admission {
  readonly isPublicRead: boolean;
  readonly #parts: AdmissionParts;
  readonly #access: AdmissionParts["access"];
  readonly #guard: IpGuard;
  readonly #trustedProxies: IpRanges | null;
  readonly #ipLimit: number;
  readonly #senders = new WeakMap<Socket, Sender>();
  /** Open connections by `toIpBucket` of the peer. */
  readonly #connections = new BoundedCounts();
  readonly #counted = new WeakSet<Socket>();

  constructor(parts: AdmissionParts) {
    const { access, trustedProxies } = parts;
    this.#parts = parts;
    this.#access = access;
    this.#guard = new IpGuard(parts);
    this.isPublicRead = parts.isPublicRead;
    this.#ipLimit = parts.requestsPerIp ?? webLimits.ipRequestsPerMinute;
    this.#trustedProxies = trustedProxies.length === 0 ? null : new IpRanges(trustedProxies);
  }

  /**
   * Checks IP block, key, limit and scope, in this order. A request over the limit is not counted. When the limits are
   * local to this process, returns the caller itself rather than a promise.
   */
  admit(request: RequestHead, access: Access): Awaitable<Caller> {
    const startedAtMs = this.#parts.clock.monotonicMs();
    const { ip, bucket } = this.#getSender(request);
    const sender = { ip, bucket, startedAtMs };
    const blockedForMs = this.#guard.blockedForMs(bucket);
    if (blockedForMs > 0 && access !== "probe" && access !== "unblock")
      return refuseBlocked(sender, blockedForMs, this.#ipLimit);
    if (access === "preflight" || access === "file") return this.#admitSeparately(sender, access);
    // A load balancer probes every node, so its health checks are not counted.
    if (access === "probe" && this.#trustedProxies?.contains(ip)) return this.#showLimit(sender);
    const value = getKey(request.headers);
    if (!takesNoKey(access) && hasOtherBearer(request.headers))
      return this.#admitByIp(sender, invalid("authorization", "has another key than X-API-Key"));
    if (access === "upgrade" && value === undefined) return this.#admitSeparately(sender, access);
    if (takesNoKey(access) || (value === undefined && this.#needsNoKey(access)))
      return this.#admitByIp(sender, null);
    const key = this.#verify(value, ip);
    const isAdmin = !(key instanceof AppError) && key.scope === "admin";
    if (blockedForMs > 0 && !isAdmin) return refuseBlocked(sender, blockedForMs, this.#ipLimit);
    if (key instanceof AppError) {
      // A client is not at fault when keys cannot be checked, so nothing is counted.
      if (key.code === "SERVICE_UNAVAILABLE")
        return thenMaybe(this.#showLimit(sender), (caller) => ({ ...caller, refusal: key }));
      // Any web page can make its visitor's browser send requests without a key, so a missing key is not an offense.
      if (value !== undefined) this.#recordFailure(ip, key);
      return this.#admitByIp(sender, key);
    }
    return this.#admitByKey(sender, key, access);
  }

  /** Returns whether the peer may open another connection, and counts the connection until it closes. */
  admitConnection(socket: Socket): boolean {
    const ip = parseIpAddress(socket.remoteAddress ?? "");
    if (ip === null || this.#trustedProxies?.contains(ip) || this.#counted.has(socket)) return true;
    const bucket = toIpBucket(ip);
    if (!this.#connections.acquire(bucket, this.#parts.connectionsPerIp)) return false;
    // The server takes a connection again after it has declined another protocol.
    this.#counted.add(socket);
    socket.once("close", () => this.#connections.release(bucket));
    return true;
  }

  /** Returns the key for a value sent on an open WebSocket. An invalid value counts as an offense of the IP. */
  authenticate(value: string, ip: string): VerifiedKey | AppError {
    const blockedForMs = this.#guard.blockedForMs(toIpBucket(ip));
    if (blockedForMs > 0) return ipBlocked(blockedForMs);
    // The hash reads only the low byte of each character. Unlike headers, frames can contain wider characters.
    const isAscii = /^[ -~]*$/.test(value);
    const key = this.#verify(isAscii ? value : undefined, ip);
    if (key instanceof AppError) this.#recordFailure(ip, key);
    return key;
  }

  /** Counts bytes that are not an HTTP request: as a request of the IP, and as abuse. */
  admitMalformed(socket: Socket): Awaitable<Caller> {
    const request = { socket, headers: {} };
    const caller = this.admit(request, "public");
    this.#recordOffense(this.#getSender(request).ip, "abuse");
    return caller;
  }

  /**
   * Returns why the key of an admitted request no longer works: it was revoked, or cannot be checked. `null` if it
   * works.
   */
  refusalSince({ key }: Caller): AppError | null {
    return key === null || this.#access.keys.isLive(key) ? null : this.#noKey();
  }

  #needsNoKey(access: Access): boolean {
    if (access === "read") return this.isPublicRead;
    return access === "optional" || (access === "metrics" && this.#parts.isPublicMetrics === true);
  }

  /** Returns the sender. It is cached per connection, except behind proxies, which mix clients on a connection. */
  #getSender(request: RequestHead): Sender {
    const existing = this.#senders.get(request.socket);
    if (existing !== undefined) return existing;
    const ip = getClientIp(request, this.#trustedProxies);
    const sender = { ip, bucket: toIpBucket(ip) };
    if (this.#trustedProxies === null) this.#senders.set(request.socket, sender);
    return sender;
  }

  /** Counts a request against a limit of its own, and shows the limit of the IP. */
  #admitSeparately(sender: TimedSender, kind: keyof typeof separateLimits): Awaitable<Caller> {
    const { ip, bucket, startedAtMs } = sender;
    const limit = separateLimits[kind];
    const taken = this.#access.ipWindow.acquire(`${kind} ${bucket}`, limit, startedAtMs);
    const status = this.#showLimit(sender);
    return thenMaybe(taken, (separateStatus) => {
      if (kind !== "preflight") this.#recordExcess(ip, separateStatus);
      const refusal = separateStatus.isAdmitted ? null : rateLimited(separateStatus);
      return thenMaybe(status, (caller) => ({ ...caller, refusal }));
    });
  }

  #showLimit({ ip, bucket, startedAtMs }: TimedSender): Awaitable<Caller> {
    const status = this.#access.ipWindow.peek(bucket, this.#ipLimit, startedAtMs);
    return thenMaybe(status, (limitStatus) => {
      return { ip, key: null, limitStatus, refusal: null, startedAtMs };
    });
  }

  #admitByIp(sender: TimedSender, badKey: AppError | null): Awaitable<Caller> {
    const { ip, bucket, startedAtMs } = sender;
    const taken = this.#access.ipWindow.acquire(bucket, this.#ipLimit, startedAtMs);
    return thenMaybe(taken, (limitStatus) => {
      this.#recordExcess(ip, limitStatus);
      const refusal = limitStatus.isAdmitted ? badKey : rateLimited(limitStatus);
      return { ip, key: null, limitStatus, refusal, startedAtMs };
    });
  }

  #admitByKey(
    { ip, startedAtMs }: TimedSender,
    key: VerifiedKey,
    access: Access,
  ): Awaitable<Caller> {
    const taken = this.#access.keyWindow.acquire(key.id, key.requestsPerMinute, startedAtMs);
    return thenMaybe(taken, (limitStatus) => {
      // The key may have been revoked while this request waited for Redis.
      const isLive = !(taken instanceof Promise) || this.#access.keys.isLive(key);
      const refusal = isLive ? toRefusal(limitStatus, key, access) : this.#noKey();
      return { ip, key, limitStatus, refusal, startedAtMs };
    });
  }

  #noKey(): AppError {
    return this.#access.keys.isVerified ? new AppError("UNAUTHORIZED") : unavailable();
  }

  #verify(value: string | undefined, ip: string): VerifiedKey | AppError {
    try {
      return this.#access.keys.verify(value, ip) ?? this.#noKey();
    } catch (cause) {
      return new AppError("SERVICE_UNAVAILABLE", { cause, retryAfterSeconds: 1 });
    }
  }

  /** Counts an invalid key as an offense. A failure to check keys is not one. */
  #recordFailure(ip: string, { code }: AppError): void {
    if (code === "UNAUTHORIZED") this.#recordOffense(ip, "failed_authentication");
  }

  #recordExcess(ip: string, { isAdmitted, isUnavailable }: LimitStatus): void {
    if (!isAdmitted && !isUnavailable) this.#recordOffense(ip, "abuse");
  }

  /** Counts an offense, except of a trusted proxy: blocking it would block everyone behind it. */
  #recordOffense(ip: string, reason: IpBlock["reason"]): void {
    if (this.#trustedProxies?.contains(ip)) return;
    this.#guard.record(toIpBucket(ip), reason);
  }
}

/** Returns the key from the `X-API-Key` header, or else from a bearer token. */
function getKey({ "x-api-key": key, authorization }: IncomingHttpHeaders): string | undefined {
  if (key !== undefined) return String(key);
  return authorization === undefined ? undefined : /^bearer +(.*)$/i.exec(authorization)?.[1];
}

/** Whether a bearer token is another key than the one in `X-API-Key`. Which of them the client means is not certain. */
function hasOtherBearer({ "x-api-key": key, authorization }: IncomingHttpHeaders): boolean {
  return key !== undefined && (getKey({ authorization }) ?? key) !== key;
}

/** Whether a route ignores keys. */
export function takesNoKey(access: Access): boolean {
  return access === "public" || access === "probe" || access === "file";
}

/** Whether a route needs an admin key. */
export function isAdministrative(access: Access): boolean {
  return access === "admin" || access === "unblock";
}

/** Returns why a verified key is refused; `null` when it is not. */
function toRefusal(
  limitStatus: LimitStatus,
  { scope }: VerifiedKey,
  access: Access,
): AppError | null {
  if (!limitStatus.isAdmitted) return rateLimited(limitStatus);
  return isAdministrative(access) && scope !== "admin" ? new AppError("FORBIDDEN") : null;
}

/** Refuses a blocked IP. It counts nothing and does not ask Redis, so that blocked requests cost least. */
function refuseBlocked({ ip, startedAtMs }: TimedSender, forMs: number, limit: number): Caller {
  const refusal = ipBlocked(forMs);
  const resetMs = Math.min(forMs, webLimits.ipWindow.windowMs);
  const limitStatus = { ...refusedStatus, limit, resetMs, atMs: startedAtMs };
  return { ip, key: null, limitStatus, refusal, startedAtMs };
}

function ipBlocked(forMs: number): AppError {
  return new AppError("IP_BLOCKED", { retryAfterSeconds: wholeSeconds(forMs) });
}

function rateLimited({ isUnavailable, resetMs }: LimitStatus): AppError {
  if (isUnavailable) return unavailable();
  return new AppError("RATE_LIMITED", { retryAfterSeconds: wholeSeconds(resetMs) });
}

function unavailable(): AppError {
  return new AppError("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1 });
}

/** Rounds up, so that a client that waits this long is not too early. At least 1. */
function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
