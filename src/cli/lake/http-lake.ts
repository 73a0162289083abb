import { lookup as lookupAddress } from "node:dns";
import * as http from "node:http";
import * as https from "node:https";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { toError } from "../../base/errors.ts";
import type { LakeSource } from "../../lake/import-lake.ts";
import { LakeError } from "../../lake/lake-error.ts";

type HttpLake = {
  /** The address of the folder: the manifest is below it. */
  readonly url: string;
  /** An admin key, for a lake that another service serves at `/v1/lake`. Only sent to the host of `url`. */
  readonly key: string | null;
  /** Whether redirects may lead to loopback and private addresses. */
  readonly allowPrivate: boolean;
  readonly signal: AbortSignal;
  /** A test has less. */
  readonly patience?: Patience;
};

type Patience = {
  /** How long a response may take, and how long 1 KiB a second of its body may be missing. */
  readonly silenceMs: number;
  /** The wait before a second attempt; twice as long before the third. */
  readonly retryMs: number;
};

const usualPatience: Patience = { silenceMs: 30_000, retryMs: 1_000 };
const redirectsMax = 5;
const attemptsMax = 3;
/** The window of a rate limit of a service. */
const waitMsMax = 60_000;
/** Slower servers are given up: a file would take hours. */
const bytesPerSecondMin = 1024;
/** Statuses of servers that may answer later. */
const passingStatuses: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Opens a lake on a web server, or at `/v1/lake` of another service. */
export function openHttpLake(lake: HttpLake): LakeSource {
  const base = new URL(lake.url);
  base.pathname = `${base.pathname.replace(/\/$/, "")}/`;
  return {
    name: `${base.origin}${base.pathname}`,
    read: (path, bytesMax) => {
      const url = new URL(path, base);
      // Some stores of files are opened by a token in the query.
      url.search = base.search;
      return download(lake, url, bytesMax);
    },
  };
}

/** A server that may answer later. `waitMs` is its `Retry-After`, at most `waitMsMax`. */
class BusyError extends Error {
  readonly waitMs: number;

  constructor(status: number, retryAfter = "") {
    super(`the server answers ${status}`);
    this.waitMs = Math.min(Number(/^\d+$/.exec(retryAfter)?.[0] ?? 0) * 1000, waitMsMax);
  }
}

/** Yields the body. After a broken connection the rest is requested, a few times. */
async function* download(
  lake: HttpLake,
  url: URL,
  bytesMax: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { retryMs } = lake.patience ?? usualPatience;
  let bytes = 0;
  for (let attempt = 1; ; attempt += 1) {
    try {
      for await (const piece of readBody(lake, url, bytes)) {
        bytes += piece.length;
        if (bytes > bytesMax)
          throw new LakeError(
            `${toText(url)} has more than ${bytesMax} bytes, the most it may have`,
          );
        yield piece;
      }
      return;
    } catch (thrown) {
      lake.signal.throwIfAborted();
      if (thrown instanceof LakeError) throw thrown;
      if (attempt === attemptsMax)
        throw new LakeError(`${toText(url)} cannot be read: ${toError(thrown).message}`);
      const busyMs = thrown instanceof BusyError ? thrown.waitMs : 0;
      await sleep(Math.max(retryMs * attempt, busyMs), undefined, { signal: lake.signal });
    }
  }
}

/** Yields the bytes of a file from a byte on. Throws when they arrive too slowly. */
async function* readBody(
  lake: HttpLake,
  url: URL,
  from: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { silenceMs } = lake.patience ?? usualPatience;
  const response = await openBody(lake, url, from);
  // A server without ranges sends all of it again.
  let skipped = response.statusCode === 206 ? from : 0;
  let [since, bytes] = [performance.now(), 0];
  for await (const read of response) {
    const piece = read as Buffer;
    bytes += piece.length;
    const elapsedMs = performance.now() - since;
    if (elapsedMs >= silenceMs) {
      if (bytes < (elapsedMs / 1000) * bytesPerSecondMin)
        throw new Error(`the server sent ${bytes} bytes in ${Math.round(elapsedMs / 1000)} s`);
      [since, bytes] = [performance.now(), 0];
    }
    const again = Math.min(piece.length, from - skipped);
    skipped += again;
    if (again < piece.length) yield piece.subarray(again);
  }
}

/** Requests a file from a byte on, and follows redirects. */
async function openBody(
  lake: HttpLake,
  requested: URL,
  from: number,
): Promise<http.IncomingMessage> {
  let url = requested;
  for (let redirects = 0; redirects <= redirectsMax; redirects += 1) {
    // The operator chose the first address; a redirect is the server's choice.
    const response = await request(lake, url, {
      from,
      isGuarded: redirects > 0 && !lake.allowPrivate,
    });
    const { statusCode = 0, headers } = response;
    if (statusCode === 200 || (statusCode === 206 && from > 0)) {
      const { "content-encoding": encoding = "identity" } = headers;
      if (encoding === "identity") return response;
      response.destroy();
      throw new LakeError(
        `${toText(url)} is sent with Content-Encoding ${encoding}: serve the lake without one`,
      );
    }
    response.destroy();
    if (passingStatuses.has(statusCode)) throw new BusyError(statusCode, headers["retry-after"]);
    const { location } = headers;
    if (
      statusCode < 300 ||
      statusCode > 399 ||
      location === undefined ||
      !URL.canParse(location, url.href)
    ) {
      const isRefused = statusCode === 401 || statusCode === 403;
      const reason = isRefused ? `: ${getRefusal(lake, url)}` : "";
      throw new LakeError(`${toText(url)} answers with status ${statusCode}${reason}`);
    }
    url = new URL(location, url);
    if (!/^https?:$/.test(url.protocol))
      throw new LakeError(`${toText(requested)} redirects to ${url.protocol}`);
  }
  throw new LakeError(`${toText(requested)} redirects more than ${redirectsMax} times`);
}

function request(
  { url: base, key, signal, patience: { silenceMs } = usualPatience }: HttpLake,
  url: URL,
  { from, isGuarded }: { readonly from: number; readonly isGuarded: boolean },
): Promise<http.IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  const headers = {
    "accept-encoding": "identity",
    ...(from === 0 ? {} : { range: `bytes=${from}-` }),
    ...(key !== null && mayHaveKey(url, new URL(base)) ? { "x-api-key": key } : {}),
  };
  if (isGuarded && isPrivate(url.hostname.replaceAll(/^\[|\]$/g, ""))) refusePrivate(url);
  const { get } = url.protocol === "https:" ? https : http;
  const lookup = isGuarded ? guardedLookup(url) : undefined;
  const sent = get(url, { headers, signal, timeout: silenceMs, ...(lookup && { lookup }) });
  const giveUp = () => sent.destroy(new Error(`no byte for ${silenceMs / 1000} s`));
  // A header that arrives byte by byte is never silent for long.
  const timer = setTimeout(giveUp, silenceMs);
  sent.on("response", resolve).on("error", reject).on("timeout", giveUp);
  return promise.finally(() => clearTimeout(timer));
}

/** Whether the key is sent to a URL: only to the host that the operator named, and never out of TLS. */
export function mayHaveKey(url: URL, base: URL): boolean {
  return url.host === base.host && [base.protocol, "https:"].includes(url.protocol);
}

/** Checks the address that is connected to, so that no later answer of the name server can replace it. */
function guardedLookup(url: URL): LookupFunction {
  return (hostname, options, callback) => {
    lookupAddress(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      if (addresses.some(({ address }) => isPrivate(address))) {
        return callback(privateError(url), []);
      }
      callback(null, addresses);
    });
  };
}

function getRefusal({ key, url: base }: HttpLake, url: URL): string {
  if (key === null) return "it needs --key-file";
  if (!mayHaveKey(url, new URL(base))) return "the key is not sent to another server";
  return "it does not accept the key of --key-file, which has to be an admin key";
}

/** The address without its query, which can have a secret. */
function toText({ origin, pathname }: URL): string {
  return origin + pathname;
}

function refusePrivate(url: URL): never {
  throw privateError(url);
}

function privateError(url: URL): LakeError {
  return new LakeError(
    `the lake redirects to ${url.host}, a loopback or private address: use --allow-private if that is intended`,
  );
}

function isPrivate(address: string): boolean {
  // The addresses of a name are checked when it is looked up.
  const family = isIP(address);
  return family !== 0 && privateAddresses.check(address, family === 6 ? "ipv6" : "ipv4");
}

/** Addresses that are not global (RFC 6890), and those that embed others. */
const privateAddresses = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
] as const) {
  privateAddresses.addSubnet(network, prefix, "ipv4");
  privateAddresses.addSubnet(`::ffff:${network}`, 96 + prefix, "ipv6");
}
for (const [network, prefix] of [
  ["::", 96],
  ["64:ff9b::", 32],
  ["2001::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 9],
  ["ff00::", 8],
] as const) {
  privateAddresses.addSubnet(network, prefix, "ipv6");
}
