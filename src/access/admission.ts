import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { webLimits } from "../base/config/limits.ts";
import { AppError } from "../base/errors.ts";
import { IpRanges, ipBucketOf, parseIpAddress } from "../base/ip-address.ts";
import type { Clock } from "../base/time/clock.ts";
import type { Keys, VerifiedKey } from "./api-key.ts";
import { clientIpOf } from "./client-ip.ts";
import type { IpBlock } from "./ip-blocks.ts";
import type { IpGuard } from "./ip-guard.ts";
import { type SlidingWindow, WindowTable } from "./rate-limit.ts";

/**
 * Who may call: `public` takes no key and counts by IP; `read` any key; `admin` keys of that scope.
 * `probe` is public and `unblock` takes an admin key; both are open to blocked IPs.
 * `optional` is for paths and methods that do not exist: a key counts if one is sent. A `preflight` shows the limit
 * of its IP and counts against a limit of its own: browsers send one before each address that a page reads with its key.
 */
export type Access = "public" | "probe" | "optional" | "preflight" | "read" | "admin" | "unblock";

/** Who is calling, by which window they are counted, and why they are refused, if they are. */
export type Caller = {
  readonly ip: string;
  /** `null` also for a bad key. */
  readonly key: VerifiedKey | null;
  readonly window: SlidingWindow;
  readonly refusal: AppError | null;
  /** When the request came, on the monotonic clock. */
  readonly startedAtMs: number;
};

/** Who sends, by address, and what that is counted by. */
type Sender = { readonly ip: string; readonly bucket: string };

type RequestHead = Pick<IncomingMessage, "socket" | "headers">;

const minuteMs = 60_000;

/** Decides, before anything else is done for it, whether a request goes on; it never throws. */
export class Admission {
  readonly #keys: Keys;
  readonly #guard: IpGuard;
  readonly #clock: Clock;
  readonly #trustedProxies: IpRanges | null;
  readonly #senders = new WeakMap<Socket, Sender>();
  readonly #ipWindows = new WindowTable({
    windowMs: minuteMs,
    entriesMax: webLimits.ipWindowsMax,
  });
  readonly #preflightWindows = new WindowTable({
    windowMs: minuteMs,
    entriesMax: webLimits.ipWindowsMax,
  });
  /** Whether reading takes no key, at the limit of the IP. */
  readonly isPublicRead: boolean;
  readonly #connectionsPerIp: number;
  /** Open connections by what IPs are counted by. */
  readonly #connections = new Map<string, number>();
  /** Room for every active key twice, so that none in use is forgotten. */
  readonly #keyWindows = new WindowTable({
    windowMs: minuteMs,
    entriesMax: 4 * webLimits.activeKeysMax,
  });

  constructor(options: {
    keys: Keys;
    guard: IpGuard;
    clock: Clock;
    trustedProxies: readonly string[];
    connectionsPerIp: number;
    isPublicRead: boolean;
  }) {
    this.#keys = options.keys;
    this.#guard = options.guard;
    this.#clock = options.clock;
    this.#connectionsPerIp = options.connectionsPerIp;
    this.isPublicRead = options.isPublicRead;
    const { trustedProxies } = options;
    this.#trustedProxies = trustedProxies.length === 0 ? null : new IpRanges(trustedProxies);
  }

  /** Block, key, limit, scope, in this order. What is over a limit uses nothing up. */
  admit(request: RequestHead, access: Access): Caller {
    const startedAtMs = this.#clock.monotonicMs();
    const { ip, bucket } = this.#senderOf(request);
    const blockedForMs = this.#guard.blockedForMs(bucket);
    const refuseBlocked = () => this.#refuseBlocked(ip, startedAtMs, blockedForMs);
    if (blockedForMs > 0 && access !== "probe" && access !== "unblock") return refuseBlocked();
    if (access === "preflight") return this.#admitPreflight(ip, startedAtMs);
    const value = keyOf(request.headers);
    const isAnonymous = value === undefined && this.#servesAnonymous(access);
    if (takesNoKey(access) || isAnonymous) return this.#admitByIp(ip, startedAtMs, null);
    const key = this.#verify(value, ip);
    const isAdmin = !(key instanceof AppError) && key.scope === "admin";
    if (blockedForMs > 0 && !isAdmin) return refuseBlocked();
    if (key instanceof AppError) {
      // A page that a visitor opens can send requests without a key, so these are no offence.
      if (value !== undefined) this.#blameFailure(ip, key);
      return this.#admitByIp(ip, startedAtMs, key);
    }
    const window = this.#keyWindows.windowOf(key.id, key.requestsPerMinute, startedAtMs);
    let refusal: AppError | null = null;
    if (!window.take(startedAtMs)) refusal = rateLimited(window, startedAtMs);
    else if (isAdministrative(access) && !isAdmin) refusal = new AppError("FORBIDDEN");
    return { ip, key, window, refusal, startedAtMs };
  }

  /** Whether the peer may have another connection; counts it until it closes. */
  admitConnection(socket: Socket): boolean {
    const ip = parseIpAddress(socket.remoteAddress ?? "");
    if (ip === null || this.#trustedProxies?.contains(ip)) return true;
    const bucket = ipBucketOf(ip);
    const count = this.#connections.get(bucket) ?? 0;
    if (count >= this.#connectionsPerIp) return false;
    this.#connections.set(bucket, count + 1);
    socket.once("close", () => {
      const left = (this.#connections.get(bucket) ?? 1) - 1;
      if (left === 0) this.#connections.delete(bucket);
      else this.#connections.set(bucket, left);
    });
    return true;
  }

  /** The key behind a value that came on a connection that is open; a bad one counts against the IP. */
  authenticate(value: string, ip: string): VerifiedKey | AppError {
    const blockedForMs = this.#guard.blockedForMs(ipBucketOf(ip));
    if (blockedForMs > 0) {
      return new AppError("IP_BLOCKED", { retryAfterSeconds: wholeSeconds(blockedForMs) });
    }
    const key = this.#verify(value, ip);
    if (key instanceof AppError) this.#blameFailure(ip, key);
    return key;
  }

  /** Bytes that are no request: counted by IP, and against it. */
  admitMalformed(socket: Socket): Caller {
    const caller = this.admit({ socket, headers: {} }, "public");
    this.#blame(caller.ip, "abuse");
    return caller;
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

  #refuseBlocked(ip: string, startedAtMs: number, forMs: number): Caller {
    const refusal = new AppError("IP_BLOCKED", { retryAfterSeconds: wholeSeconds(forMs) });
    return { ip, key: null, window: this.#ipWindow(ip, startedAtMs), refusal, startedAtMs };
  }

  #admitPreflight(ip: string, nowMs: number): Caller {
    const { preflightsPerMinute } = webLimits;
    const preflights = this.#preflightWindows.windowOf(ipBucketOf(ip), preflightsPerMinute, nowMs);
    const refusal = preflights.take(nowMs) ? null : rateLimited(preflights, nowMs);
    return { ip, key: null, window: this.#ipWindow(ip, nowMs), refusal, startedAtMs: nowMs };
  }

  #admitByIp(ip: string, startedAtMs: number, badKey: AppError | null): Caller {
    const window = this.#ipWindow(ip, startedAtMs);
    let refusal = badKey;
    if (!window.take(startedAtMs)) {
      this.#blame(ip, "abuse");
      refusal = rateLimited(window, startedAtMs);
    }
    return { ip, key: null, window, refusal, startedAtMs };
  }

  #verify(value: string | undefined, ip: string): VerifiedKey | AppError {
    try {
      return this.#keys.verify(value, ip) ?? new AppError("UNAUTHORIZED");
    } catch (cause) {
      return new AppError("SERVICE_UNAVAILABLE", { cause, retryAfterSeconds: 1 });
    }
  }

  /** A wrong value is an offence; that keys could not be checked is not. */
  #blameFailure(ip: string, { code }: AppError): void {
    if (code === "UNAUTHORIZED") this.#blame(ip, "failed_authentication");
  }

  /** Blocking a trusted proxy would block everyone behind it. */
  #blame(ip: string, reason: IpBlock["reason"]): void {
    if (this.#trustedProxies?.contains(ip)) return;
    this.#guard.record(ipBucketOf(ip), reason);
  }

  #ipWindow(ip: string, nowMs: number): SlidingWindow {
    return this.#ipWindows.windowOf(ipBucketOf(ip), webLimits.ipRequestsPerMinute, nowMs);
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

function rateLimited(window: SlidingWindow, nowMs: number): AppError {
  return new AppError("RATE_LIMITED", { retryAfterSeconds: wholeSeconds(window.resetMs(nowMs)) });
}

/** Rounded up, so that who waits as reported is not too early; at least 1. */
function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
