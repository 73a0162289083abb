/** Generates requests from an OpenAPI document: some are valid, most have at least one mistake. */
import type { JsonSchema, Parameter } from "../../src/api/docs/api-document.ts";
import type { Endpoint } from "./api-contract.ts";
import { type Samples, ValueFuzzer, wildEncodings, wildTexts } from "./fuzz-values.ts";
import type { SeededRandom } from "./seeded-random.ts";

export type FuzzedRequest = {
  readonly endpoint: Endpoint;
  /** Whether method and path are those of the endpoint, whatever else is invalid. */
  readonly isMeant: boolean;
  /** Whether the request is valid according to the document. */
  readonly isRight: boolean;
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | null;
};

/** A request to send. */
type SentRequest = Pick<FuzzedRequest, "method" | "target" | "headers" | "body">;

/** Keys by scope, so many that limits rarely refuse a request. */
export type KeysOfScope = Readonly<Record<"read" | "admin", readonly string[]>>;

/** Below the server's limit for a request head. Above it the server closes the connection. */
const headBytesMax = 16_000;
const otherMethods = ["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "POST", "TRACE", "PROPFIND"];
const otherTypes = ["text/plain", "application/xml", "", ";", "multipart/form-data"];

export class RequestFuzzer {
  readonly #random: SeededRandom;
  readonly #values: ValueFuzzer;
  readonly #endpoints: readonly Endpoint[];
  readonly #keys: KeysOfScope;
  /** Whether the current request must be valid. */
  #isRight = true;
  #mistakes = 0;

  constructor(options: {
    random: SeededRandom;
    endpoints: readonly Endpoint[];
    samples: Samples;
    keys: KeysOfScope;
  }) {
    this.#random = options.random;
    this.#values = new ValueFuzzer(options.random, options.samples);
    this.#endpoints = options.endpoints;
    this.#keys = options.keys;
  }

  next(): FuzzedRequest {
    for (;;) {
      const request = this.#make();
      if (toBytes({ ...request, body: null }).length < headBytesMax) return request;
    }
  }

  #make(): FuzzedRequest {
    const endpoint = this.#random.pick(this.#endpoints);
    this.#isRight = this.#random.chance(getRightShare(endpoint));
    this.#mistakes = 0;
    const isMeant = !this.#errs(0.06);
    const method = isMeant
      ? endpoint.method
      : this.#random.pick([...otherMethods, endpoint.method]);
    const body = this.#getBody(endpoint, method);
    const type = this.#errs(0.02) ? this.#random.pick(otherTypes) : "application/json";
    const headers: [string, string][] = [["host", "fuzz"], ...this.#toIdentity(endpoint)];
    headers.push(...this.#harmlessHeaders());
    if (body !== null) {
      headers.push(["content-type", type], ["content-length", `${Buffer.byteLength(body)}`]);
    }
    const target = isMeant ? this.#getTarget(endpoint) : this.#targetBeside(endpoint);
    return { endpoint, isMeant, isRight: this.#isRight, method, target, headers, body };
  }

  /** Decides whether to make a mistake here. Requests that must be valid get none. */
  #errs(share: number): boolean {
    if (this.#isRight || !this.#random.chance(share)) return false;
    this.#mistakes += 1;
    return true;
  }

  #getTarget({ path, parameters }: Endpoint): string {
    const random = this.#random;
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const parameter = parameters.find((one) => one.in === "path" && one.name === name);
      return parameter === undefined ? "" : this.#encoded(parameter);
    });
    const inQuery = parameters.filter((one) => one.in === "query");
    const pairs = inQuery
      .filter((one) => (one.required ? !this.#errs(0.05) : random.chance(0.15)))
      .map((parameter) => `${parameter.name}=${this.#encoded(parameter)}`);
    // A request that must be invalid needs at least one mistake.
    if (this.#errs(this.#mistakes === 0 ? 1 : 0.03)) pairs.push(this.#wildPair(pairs));
    if (random.chance(0.02)) pairs.reverse();
    return pairs.length === 0 ? filled : `${filled}?${pairs.join("&")}`;
  }

  #targetBeside(endpoint: Endpoint): string {
    const target = this.#getTarget(endpoint);
    const others = [target, target, `/${target}`, target.toUpperCase(), `${target}/`, "*", "/"];
    return this.#random.pick(others);
  }

  /** An unknown, misspelled or repeated name, or text that is not a pair. */
  #wildPair(pairs: readonly string[]): string {
    const valid = pairs[0] ?? "limit=0";
    const wildName = encodeURIComponent(this.#random.pick(wildTexts));
    const names = [valid, valid.toUpperCase(), valid.slice(1), `${wildName}=1`, "__proto__=1"];
    return this.#random.pick([...names, "&&=", "==", "?", "limit", "%ff=1"]);
  }

  #encoded({ name, schema }: Parameter): string {
    const value = this.#errs(0.5) ? this.#values.bad(schema) : this.#values.good(name, schema);
    const encoded = encodeURIComponent(value);
    return this.#errs(0.02) ? encoded + this.#random.pick(wildEncodings) : encoded;
  }

  #toIdentity({ security }: Endpoint): [string, string][] {
    const random = this.#random;
    const ip = `198.${random.integer(18, 19)}.${random.integer(0, 255)}.${random.integer(0, 255)}`;
    const client: [string, string] = ["x-forwarded-for", this.#errs(0.02) ? `${ip}, ?, x` : ip];
    if (security.length === 0 && random.chance(0.9)) return [client];
    const roles = security.flatMap((one) => Object.values(one).flat());
    const keys = this.#keys[roles.includes("admin") ? "admin" : "read"];
    if (!this.#errs(0.04)) return [client, ["x-api-key", random.pick(keys)]];
    const bad = random.pick(["", "x", "ow_read_", random.pick(keys).slice(0, -1), "\u00ff"]);
    return random.chance(0.5) ? [client] : [client, ["x-api-key", bad]];
  }

  #harmlessHeaders(): [string, string][] {
    const random = this.#random;
    const headers: [string, string][] = [
      ["x-request-id", random.pick(["mine-1", "", "\u00fc", "a b"])],
      ["origin", random.pick(["null", "https://x.example", "x"])],
      ["accept", "text/nonsense;q=0"],
      ["if-none-match", '*, W/"x"'],
      ["cookie", "x".repeat(3000)],
      [
        "accept-encoding",
        random.pick(["gzip", "*;q=0.1", "br, gzip ; q = 0.5", ",;=".repeat(900)]),
      ],
    ];
    return headers.filter(() => random.chance(0.03));
  }

  #getBody({ requestBody }: Endpoint, method: string): string | null {
    const random = this.#random;
    const schema = requestBody?.content["application/json"]?.schema;
    if (schema === undefined || method === "GET" || method === "HEAD") {
      return this.#errs(0.01) ? random.pick(["{}", "x", ""]) : null;
    }
    const whole = JSON.stringify(this.#json(schema));
    if (!this.#errs(0.3)) return whole;
    const cut = [whole.slice(0, -1), `${whole}${whole}`, `\ufeff${whole}`, JSON.stringify(whole)];
    const polluted = whole.replace("{", '{"__proto__":{"scope":"admin"},');
    const others = ["[".repeat(5000), "x".repeat(17_000), "null", "[]", "0", ""];
    return random.pick([...cut, polluted, ...others]);
  }

  #json({ properties = {}, required = [] }: JsonSchema): Record<string, unknown> {
    const requested = Object.entries(properties).filter(([name]) =>
      required.includes(name) ? !this.#errs(0.05) : this.#random.chance(0.5),
    );
    const values = requested.map(([name, field]) => [
      name,
      this.#errs(0.25) ? this.#values.badJson() : this.#values.goodJson(name, field),
    ]);
    const extra = this.#errs(0.05) ? [[this.#random.pick(wildTexts).slice(0, 80), 1]] : [];
    return Object.fromEntries([...values, ...extra]) as Record<string, unknown>;
  }
}

/** Valid requests of the store are rare, because each takes as long as forty refusals. */
function getRightShare({ tags }: Endpoint): number {
  return tags.some((tag) => ["Keys", "Service"].includes(tag)) ? 0.5 : 0.025;
}

/** A request to open the stream, valid or with mistakes. */
export function upgradeRequest(random: SeededRandom, keys: readonly string[]): SentRequest {
  const most = <Value>(usual: Value, ...others: Value[]): Value =>
    random.chance(0.8) ? usual : random.pick(others);
  const query = most(
    "",
    "?batch=1",
    "?compress=zlib",
    "?compress=permessage-deflate",
    "?batch=2",
    "?%ff",
  );
  const headers: (readonly [string, string])[] = [
    ["host", "fuzz"],
    ["upgrade", most("websocket", "WebSocket", "h2c", "websocket, h2c", "")],
    ["connection", most("upgrade", "keep-alive, Upgrade", "close", "")],
    ["sec-websocket-version", most("13", "8", "x", "13, 8", "")],
    ["sec-websocket-key", most("dGhlIHNhbXBsZSBub25jZQ==", "x", "", "=".repeat(3000))],
    ["x-api-key", most(random.pick(keys), "", "ow_read_", "\u00ff")],
    ["sec-websocket-extensions", random.pick(["permessage-deflate", "x; y=", ";", ","])],
    ["sec-websocket-protocol", random.pick(["a", "a, a", ",", "\u00fc"])],
  ];
  const usual = headers.slice(0, -2).filter(() => random.chance(0.95));
  const rare = headers.slice(-2).filter(() => random.chance(0.1));
  const method = most("GET", "HEAD", "POST", "OPTIONS");
  const target = `/v1/stream${query}`;
  return { method, target, headers: [...usual, ...rare], body: null };
}

/** Byte sequences that are known to cause trouble in HTTP. */
const wildPieces = [
  "\r\n",
  "\n",
  "\r",
  "\0",
  ":",
  " ",
  "\t",
  "\u00ff",
  "HTTP/1.1",
  "HTTP/9.9",
  "Transfer-Encoding: chunked\r\n",
  "transfer-encoding: chunked, identity\r\n",
  "Content-Length: 5\r\n",
  "Content-Length: -1\r\n",
  "content-length: 99999999999999999999\r\n",
  "Expect: 100-continue\r\n",
  "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n",
  "Connection: close\r\n",
  " folded: line\r\n",
  "ffffffff\r\n",
  "0\r\n\r\n",
  "\u0016\u0003\u0001\u0002\u0000\u0001",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "GET / HTTP/1.1\r\nhost: x\r\n\r\n",
  "CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n",
  `x: ${"y".repeat(17_000)}\r\n`,
];

/** A request with some bytes cut off, removed, changed, duplicated or added. */
export function breakBytes(request: SentRequest, random: SeededRandom): Buffer {
  let text = toBytes(request);
  const wounds = random.integer(1, 3);
  for (let wound = 0; wound < wounds; wound += 1) {
    const at = random.integer(0, text.length);
    const length = random.integer(1, 8);
    const [before, after] = [text.slice(0, at), text.slice(at)];
    text = random.pick([
      before,
      before + after.slice(length),
      before + random.pick(wildPieces) + after,
      before + String.fromCharCode(random.integer(0, 255)) + after.slice(1),
      before + after.slice(0, length) + after,
      text.replace("\r\n", `\r\n${random.pick(wildPieces)}`),
    ]);
  }
  return Buffer.from(text, "latin1");
}

/** A request as the bytes of HTTP/1.1. */
export function toBytes({ method, target, headers, body }: SentRequest): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return `${method} ${target} HTTP/1.1\r\n${lines}\r\n${body ?? ""}`;
}
