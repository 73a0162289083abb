import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { BoundedCounts } from "../base/bounded-counts.ts";
import { webLimits } from "../base/config/limits.ts";
import { AppError } from "../base/errors.ts";
import { IpRanges, ipBucketOf, parseIpAddress } from "../base/ip-address.ts";
import { type Awaitable, whenKnown } from "../base/time/awaitable.ts";
import type { Clock } from "../base/time/clock.ts";
import type { AccessStore } from "./access-store.ts";
import type { VerifiedKey } from "./api-key.ts";
import { clientIpOf } from "./client-ip.ts";
import type { IpBlock } from "./ip-blocks.ts";
import type { IpGuard } from "./ip-guard.ts";
import { noStanding, type Standing } from "./rate-window.ts";

/**
 * Who may call: `public` takes no key and counts by IP; `read` any key; `admin` keys of that scope.
 * `probe` is public and `unblock` takes an admin key; both are open to blocked IPs.
 * `optional` is for paths and methods that do not exist: a key counts if one is sent. A `preflight` shows the limit
 * of its IP and counts against a limit of its own: browsers send one before each address that a page reads with its key.
 */
export type Access = "public" | "probe" | "optional" | "preflight" | "read" | "admin" | "unblock";

/** Who is calling, what they are allowed, and why they are refused, if they are. */
export type Caller = {
  readonly ip: string;
  /** `null` also for a bad key. */
  readonly key: VerifiedKey | null;
  readonly standing: Standing;
  readonly refusal: AppError | null;
  /** When the request came, on the monotonic clock. */
  readonly startedAtMs: number;
};

/** Who sends, by address, and what that is counted by. */
type Sender = { readonly ip: string; readonly bucket: string };
type TimedSender = Sender & Pick<Caller, "startedAtMs">;

type RequestHead = Pick<IncomingMessage, "socket" | "headers">;

type AdmissionParts = {
  readonly access: Pick<AccessStore, "keys" | "keyWindow" | "ipWindow">;
  readonly guard: IpGuard;
  readonly clock: Clock;
  readonly trustedProxies: readonly string[];
  readonly connectionsPerIp: number;
  /** Whether reading takes no key, at the limit of the IP. */
  readonly isPublicRead: boolean;
};

/** Decides, before anything else is done for it, whether a request goes on; it never throws. */
export class Admission {
  readonly isPublicRead: boolean;
  readonly #parts: AdmissionParts;
  readonly #access: AdmissionParts["access"];
  readonly #trustedProxies: IpRanges | null;
  readonly #senders = new WeakMap<Socket, Sender>();
  /** Open connections by what IPs are counted by. */
  readonly #connections = new BoundedCounts();

  constructor(parts: AdmissionParts) {
    const { access, trustedProxies } = parts;
    this.#parts = parts;
    this.#access = access;
    this.isPublicRead = parts.isPublicRead;
    this.#trustedProxies = trustedProxies.length === 0 ? null : new IpRanges(trustedProxies);
  }

  /**
   * Block, key, limit, scope, in this order. What is over a limit uses nothing up. The caller is known in the same turn
   * where the limits are those of this process.
   */
  admit(request: RequestHead, access: Access): Awaitable<Caller> {
    const startedAtMs = this.#parts.clock.monotonicMs();
    const { ip, bucket } = this.#senderOf(request);
    const sender = { ip, bucket, startedAtMs };
    const blockedForMs = this.#parts.guard.blockedForMs(bucket);
    if (blockedForMs > 0 && access !== "probe" && access !== "unblock")
      return refuseBlocked(sender, blockedForMs);
    if (access === "preflight") return this.#admitPreflight(sender);
    // The balancer of a cluster asks every node, so its own checks do not count.
    if (access === "probe" && this.#trustedProxies?.contains(ip)) return this.#showLimit(sender);
    const value = keyOf(request.headers);
    const isAnonymous = value === undefined && this.#servesAnonymous(access);
    if (takesNoKey(access) || isAnonymous) return this.#admitByIp(sender, null);
    const key = this.#verify(value, ip);
    const isAdmin = !(key instanceof AppError) && key.scope === "admin";
    if (blockedForMs > 0 && !isAdmin) return refuseBlocked(sender, blockedForMs);
    if (key instanceof AppError) {
      // A page that a visitor opens can send requests without a key, so these are no offense.
      if (value !== undefined) this.#blameFailure(ip, key);
      return this.#admitByIp(sender, key);
    }
    return this.#admitByKey(sender, key, access);
  }

  /** Whether the peer may have another connection; counts it until it closes. */
  admitConnection(socket: Socket): boolean {
    const ip = parseIpAddress(socket.remoteAddress ?? "");
    if (ip === null || this.#trustedProxies?.contains(ip)) return true;
    const bucket = ipBucketOf(ip);
    if (!this.#connections.take(bucket, this.#parts.connectionsPerIp)) return false;
    socket.once("close", () => this.#connections.release(bucket));
    return true;
  }

  /** The key behind a value that came on a connection that is open; a bad one counts against the IP. */
  authenticate(value: string, ip: string): VerifiedKey | AppError {
    const blockedForMs = this.#parts.guard.blockedForMs(ipBucketOf(ip));
    if (blockedForMs > 0) return ipBlocked(blockedForMs);
    // A value is hashed by the low byte of each character, which headers have no more of.
    const isAscii = /^[ -~]*$/.test(value);
    const key = this.#verify(isAscii ? value : undefined, ip);
    if (key instanceof AppError) this.#blameFailure(ip, key);
    return key;
  }

  /** Bytes that are no request: counted by IP, and against it. */
  admitMalformed(socket: Socket): Awaitable<Caller> {
    const request = { socket, headers: {} };
    const caller = this.admit(request, "public");
    this.#blame(this.#senderOf(request).ip, "abuse");
    return caller;
  }

  /** Whether the key of an admitted request still works: it may have been revoked since. */
  stillWorks({ key }: Caller): boolean {
    return key === null || this.#access.keys.isLive(key);
  }

  /** Of a connection it stays the same, unless a proxy may carry requests of many. */
  #senderOf(request: RequestHead): Sender {
    const known = this.#senders.get(request.socket);
    if (known !== undefined) return known;
    const ip = clientIpOf(request, this.#trustedProxies);
    const sender = { ip, bucket: ipBucketOf(ip) };
    if (this.#trustedProxies === null) this.#senders.set(request.socket, sender);
    return sender;
  }

  #servesAnonymous(access: Access): boolean {
    return access === "optional" || (access === "read" && this.isPublicRead);
  }

  #admitPreflight(sender: TimedSender): Awaitable<Caller> {
    const { preflightsPerMinute } = webLimits;
    const { bucket, startedAtMs } = sender;
    const own = this.#access.ipWindow.take(`preflight ${bucket}`, preflightsPerMinute, startedAtMs);
    const shown = this.#showLimit(sender);
    return whenKnown(own, (preflights) =>
      whenKnown(shown, (caller) =>
        preflights.isAdmitted ? caller : { ...caller, refusal: rateLimited(preflights) },
      ),
    );
  }

  #showLimit({ ip, bucket, startedAtMs }: TimedSender): Awaitable<Caller> {
    const shown = this.#access.ipWindow.look(bucket, webLimits.ipRequestsPerMinute, startedAtMs);
    return whenKnown(shown, (standing) => {
      return { ip, key: null, standing, refusal: null, startedAtMs };
    });
  }

  #admitByIp(sender: TimedSender, badKey: AppError | null): Awaitable<Caller> {
    const { ip, bucket, startedAtMs } = sender;
    const taken = this.#access.ipWindow.take(bucket, webLimits.ipRequestsPerMinute, startedAtMs);
    return whenKnown(taken, (standing) => {
      if (!standing.isAdmitted && !standing.isUnavailable) this.#blame(ip, "abuse");
      const refusal = standing.isAdmitted ? badKey : rateLimited(standing);
      return { ip, key: null, standing, refusal, startedAtMs };
    });
  }

  #admitByKey(
    { ip, startedAtMs }: TimedSender,
    key: VerifiedKey,
    access: Access,
  ): Awaitable<Caller> {
    const taken = this.#access.keyWindow.take(key.id, key.requestsPerMinute, startedAtMs);
    return whenKnown(taken, (standing) => {
      // A revocation may have been answered while the other nodes were asked.
      const isLive = !(taken instanceof Promise) || this.#access.keys.isLive(key);
      const refusal = isLive ? refusalOf(standing, key, access) : this.#noKey();
      return { ip, key, standing, refusal, startedAtMs };
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

  /** A wrong value is an offense; that keys could not be checked is not. */
  #blameFailure(ip: string, { code }: AppError): void {
    if (code === "UNAUTHORIZED") this.#blame(ip, "failed_authentication");
  }

  /** Blocking a trusted proxy would block everyone behind it. */
  #blame(ip: string, reason: IpBlock["reason"]): void {
    if (this.#trustedProxies?.contains(ip)) return;
    this.#parts.guard.record(ipBucketOf(ip), reason);
  }
}

/** The key that a request carries: in our own header, or as a bearer token. */
function keyOf({ "x-api-key": key, authorization }: IncomingHttpHeaders): string | undefined {
  if (key !== undefined) return String(key);
  return authorization === undefined ? undefined : /^bearer +(.*)$/i.exec(authorization)?.[1];
}

/** Whether a route serves callers without a key, whatever key they send. */
export function takesNoKey(access: Access): boolean {
  return access === "public" || access === "probe";
}

/** Whether a route needs an admin key. */
export function isAdministrative(access: Access): boolean {
  return access === "admin" || access === "unblock";
}

/** Why a verified key may not do what it asks for; `null` when it may. */
function refusalOf(standing: Standing, { scope }: VerifiedKey, access: Access): AppError | null {
  if (!standing.isAdmitted) return rateLimited(standing);
  return isAdministrative(access) && scope !== "admin" ? new AppError("FORBIDDEN") : null;
}

/** Nothing is counted, and no node is asked: the answer of a block is the cheapest. */
function refuseBlocked({ ip, startedAtMs }: TimedSender, forMs: number): Caller {
  const refusal = ipBlocked(forMs);
  const limit = webLimits.ipRequestsPerMinute;
  const resetMs = Math.min(forMs, webLimits.ipWindow.windowMs);
  const standing = { ...noStanding, limit, resetMs, atMs: startedAtMs };
  return { ip, key: null, standing, refusal, startedAtMs };
}

function ipBlocked(forMs: number): AppError {
  return new AppError("IP_BLOCKED", { retryAfterSeconds: wholeSeconds(forMs) });
}

function rateLimited({ isUnavailable, resetMs }: Standing): AppError {
  if (isUnavailable) return unavailable();
  return new AppError("RATE_LIMITED", { retryAfterSeconds: wholeSeconds(resetMs) });
}

function unavailable(): AppError {
  return new AppError("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1 });
}

/** Rounded up, so that a client that waits this long is not too early; at least 1. */
function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
