import type { ErrorAnswer, Meta } from "./api.ts";
import { type Backoff, recommendedBackoff, wait, waitAfter } from "./backoff.ts";
import { noKeyMessage, OddwireError } from "./oddwire-error.ts";

/** The URL of the service, the API key and the limits of requests. */
export type ConnectionOptions = {
  /** For example `http://127.0.0.1:8080`. A path before `/v1` is kept. */
  readonly url: string;
  /** Sent as `X-API-Key`. Without a key, only health and readiness are answered, unless the service is public. */
  readonly key?: string | undefined;
  /** The backoff after a rate limit (429), a 500, a 503, a proxy's 502, 503 or 504, and a request without an answer. */
  readonly backoff?: Backoff | undefined;
  /** The timeout of each attempt; 30 s by default. */
  readonly timeoutMs?: number | undefined;
  /** Sends the requests in place of `fetch`, for example with another `cache` mode. */
  readonly fetch?: Fetch | undefined;
  /** Called with the `meta` of each answer that has one: how fresh it is. */
  readonly onMeta?: ((meta: Meta) => void) | undefined;
  /** How long a connection of the stream stays open when no stream uses it, for the next one; 0 by default. */
  readonly streamIdleMs?: number | undefined;
};

/** A request as `fetch` takes it. */
export type RequestToSend = {
  readonly method: "GET" | "POST" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly body?: string;
};

/** What is read of a response. */
export type ServiceResponse = Pick<Response, "ok" | "status" | "url" | "body" | "text"> & {
  readonly headers: Pick<Headers, "get">;
};

type Fetch = (url: URL, request: RequestToSend) => Promise<ServiceResponse>;

/** The values of a query string. Lists are joined with commas; `undefined` is left out. */
export type Query = Readonly<
  Record<string, string | number | boolean | readonly (string | number)[] | undefined>
>;

export type RequestOptions = {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly query?: Query;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** The timeout of each attempt, instead of that of the connection. */
  readonly timeoutMs?: number;
  /** Statuses other than 2xx that are not errors. */
  readonly accepted?: readonly number[];
};

/** Reads what is needed of an answer. */
type Read<Answer> = (response: ServiceResponse) => Promise<Answer>;

const defaultTimeoutMs = 30_000;
/** Statuses of a proxy that does not get an answer from the service. */
const proxyStatuses: readonly number[] = [502, 503, 504];

type JsonObject = Readonly<Record<string, unknown>>;

function hasObject({ data }: JsonObject): boolean {
  return isObject(data);
}

/** Returns whether an answer has rows in `data`. */
export function hasRows({ data }: JsonObject): boolean {
  return Array.isArray(data) && data.every(isObject);
}

/** Returns whether a value is an object of JSON. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sends requests to the service and retries them where that can help. Throws errors as `OddwireError`. */
export class Connection {
  readonly #base: string;
  readonly #timeoutMs: number;
  readonly #fetch: Fetch;
  readonly #onMeta: ConnectionOptions["onMeta"];
  readonly key: string | null;
  readonly backoff: Backoff;
  readonly streamIdleMs: number;

  constructor(options: ConnectionOptions) {
    const { url, key, backoff, timeoutMs, fetch: send, streamIdleMs } = options;
    this.#base = new URL(url).href.replace(/\/$/, "");
    this.key = key ?? null;
    this.backoff = backoff ?? recommendedBackoff;
    this.#onMeta = options.onMeta;
    this.#timeoutMs = timeoutMs ?? defaultTimeoutMs;
    this.streamIdleMs = streamIdleMs ?? 0;
    this.#fetch = async (to, init) => (send ?? fetch)(to, init);
  }

  /** Returns the URL of a path. Parameters in the path must be encoded already. */
  getUrl(path: string, query: Query = {}): URL {
    const url = new URL(this.#base + path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url;
  }

  /** Returns the body of the answer as JSON. Throws `NOT_OURS` unless it is an object that `isOurs`. */
  async json<Answer>(
    path: string,
    options: RequestOptions = {},
    isOurs: (answer: JsonObject) => boolean = () => true,
  ): Promise<Answer> {
    const { response, text } = await this.#request(path, options, readText);
    let answer: unknown;
    try {
      answer = JSON.parse(text);
    } catch (cause) {
      throw notOurs(response, cause);
    }
    if (!isObject(answer) || !isOurs(answer)) throw notOurs(response);
    if (isObject(answer["meta"])) this.#onMeta?.(answer["meta"] as Meta);
    return answer as Answer;
  }

  /** Returns the object in `data` of the answer. */
  async object<Data>(path: string, options?: RequestOptions): Promise<Data> {
    return (await this.json<{ readonly data: Data }>(path, options, hasObject)).data;
  }

  /** Returns the rows in `data` of the answer. */
  async rows<Row>(path: string, options?: RequestOptions): Promise<readonly Row[]> {
    return (await this.json<{ readonly data: readonly Row[] }>(path, options, hasRows)).data;
  }

  /** Returns the body of the answer as it is. */
  async text(path: string): Promise<string> {
    return (await this.#request(path, {}, readText)).text;
  }

  /** Returns the answer before its body is read. Throws the errors of the service. */
  async request(path: string, options: RequestOptions = {}): Promise<ServiceResponse> {
    return this.#request(path, options, async (response) => response);
  }

  async #request<Answer>(path: string, options: RequestOptions, read: Read<Answer>) {
    // A URL without such a segment is that of another endpoint.
    if (/\/\.{0,2}(?:\/|$)/.test(path)) {
      throw new OddwireError(`an id in ${path} is empty or consists of dots`, {
        status: 0,
        code: "VALIDATION_ERROR",
      });
    }
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#attempt(path, options, read);
      if (!(outcome instanceof OddwireError)) return outcome;
      const waitMs = canRepeat(outcome, options)
        ? waitAfter(attempt, outcome.retryAfterMs, this.backoff)
        : null;
      if (waitMs === null) throw outcome;
      await wait(waitMs, options.signal);
    }
  }

  async #attempt<Answer>(
    path: string,
    options: RequestOptions,
    read: Read<Answer>,
  ): Promise<Answer | OddwireError> {
    const { method = "GET", query, body, signal, accepted = [] } = options;
    const { timeoutMs = this.#timeoutMs } = options;
    const headers = {
      ...(this.key === null ? {} : { "X-API-Key": this.key }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    };
    const timeout = AbortSignal.timeout(timeoutMs);
    const url = this.getUrl(path, query);
    try {
      const response = await this.#fetch(url, {
        method,
        headers,
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const isFine = response.ok || accepted.includes(response.status);
      // The connection can also break, or the timeout pass, within the body.
      return await (isFine ? read(response) : readError(response, this.key));
    } catch (cause) {
      signal?.throwIfAborted();
      // A browser does not report whether the service refused the origin of the page.
      const isInPage = "document" in globalThis && !isOwnOrigin(this.#base);
      const origin = isInPage ? ", or does not allow the origin of this page" : "";
      return new OddwireError(`${url.origin}${url.pathname} did not answer${origin}`, {
        status: 0,
        code: "UNREACHABLE",
        cause,
      });
    }
  }
}

/**
 * Returns whether to retry. Reads can be repeated; other requests only if the service certainly did not execute them. A
 * 503 of the service without `Retry-After` does not pass on its own; one of a proxy can.
 */
function canRepeat(
  { code, status, retryAfterMs }: OddwireError,
  { method = "GET" }: RequestOptions,
): boolean {
  if (code === "RATE_LIMITED") return true;
  const isUnavailable = code === "SERVICE_UNAVAILABLE" && retryAfterMs !== null;
  const isOfProxy = code === "NOT_OURS" && proxyStatuses.includes(status);
  const passes = isUnavailable || isOfProxy || code === "UNREACHABLE" || code === "INTERNAL_ERROR";
  return method === "GET" && passes;
}

function isOwnOrigin(base: string): boolean {
  const page = globalThis as { readonly location?: { readonly origin: string } };
  return page.location?.origin === new URL(base).origin;
}

async function readText(response: ServiceResponse) {
  return { response, text: await response.text() };
}

async function readError(response: ServiceResponse, key: string | null): Promise<OddwireError> {
  const text = await response.text();
  let error: Partial<ErrorAnswer>["error"];
  try {
    ({ error } = JSON.parse(text) as Partial<ErrorAnswer>);
  } catch (cause) {
    return notOurs(response, cause);
  }
  const { code, message, details = [] }: Partial<ErrorAnswer["error"]> = error ?? {};
  if (typeof code !== "string" || typeof message !== "string" || !Array.isArray(details))
    return notOurs(response);
  const isWithoutKey = response.status === 401 && key === null;
  return new OddwireError(isWithoutKey ? noKeyMessage : message, {
    status: response.status,
    code,
    details,
    requestId: error?.request_id ?? null,
    retryAfterMs: getRetryAfterMs(response),
  });
}

function getRetryAfterMs({ headers }: ServiceResponse): number | null {
  const seconds = headers.get("Retry-After") ?? "";
  return /^\d+$/.test(seconds) ? Number(seconds) * 1000 : null;
}

/** Returns the error for an answer that is not from the service, but for example from a proxy. */
export function notOurs(response: ServiceResponse, cause?: unknown): OddwireError {
  const { status, headers, url } = response;
  const type = headers.get("Content-Type") ?? "nothing";
  const message = `the answer of ${url} (${status}, ${type}) is not from the service`;
  const retryAfterMs = getRetryAfterMs(response);
  return new OddwireError(message, { status, code: "NOT_OURS", retryAfterMs, cause });
}
