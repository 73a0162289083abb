/** A bare HTTP/1.1 client, for requests that no HTTP library sends. It can pipeline requests. */
import { connect, type Socket } from "node:net";
import { gunzipSync } from "node:zlib";
import { waitMsMax } from "./wait-for.ts";

export type RawAnswer = {
  readonly status: number;
  /** Headers by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  /** The body, decompressed. */
  readonly body: string;
};

type Waiting = {
  readonly isHead: boolean;
  readonly resolve: (answer: RawAnswer) => void;
  readonly reject: (error: Error) => void;
};

/** A persistent connection. It fails if the server closes it or does not respond in time. */
export class RawConnection {
  readonly #socket: Socket;
  readonly #waiting: Waiting[] = [];
  #received: Buffer = Buffer.alloc(0);

  constructor(port: number) {
    this.#socket = connect({ host: "127.0.0.1", port, noDelay: true });
    this.#socket.setTimeout(waitMsMax, () => this.#fail("the server says nothing"));
    this.#socket.on("data", (bytes) => this.#take(bytes));
    this.#socket.on("error", (error) => this.#fail(error.message));
    this.#socket.on("close", () => this.#fail("the server closed the connection"));
  }

  /** Sends a request after those in flight. The head is Latin-1, the body UTF-8. */
  async send(head: string, body: string | null, isHead: boolean): Promise<RawAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
    this.#waiting.push({ isHead, resolve, reject });
    this.#socket.write(Buffer.concat([Buffer.from(head, "latin1"), Buffer.from(body ?? "")]));
    return promise;
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const found = parseAnswer(this.#received, first.isHead);
      if (found === null) return;
      this.#received = this.#received.subarray(found.length);
      this.#waiting.shift();
      first.resolve(found.answer);
    }
  }

  #fail(reason: string): void {
    this.#socket.destroy();
    for (const { reject } of this.#waiting.splice(0)) reject(new Error(reason));
  }
}

/** Sends bytes and closes the sending side, from an address of 127.0.0.0/8. Returns all responses until the close. */
export async function sendBroken(options: {
  readonly port: number;
  readonly localAddress: string;
  readonly bytes: Buffer;
}): Promise<readonly RawAnswer[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly RawAnswer[]>();
  const { bytes, ...place } = options;
  const chunks: Buffer[] = [];
  const socket = connect({ host: "127.0.0.1", ...place });
  socket.setTimeout(waitMsMax, () => {
    reject(new Error("the server neither answers nor closes"));
    socket.destroy();
  });
  socket.on("data", (chunk) => chunks.push(chunk));
  // The server may reset the connection while we still send, once it has responded.
  socket.on("error", () => socket.destroy());
  socket.on("close", () => resolve(parseAnswers(Buffer.concat(chunks))));
  socket.end(bytes);
  return promise;
}

/** Parses complete responses only. A reset can cut off the last one. */
function parseAnswers(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = bytes;
  for (let found = parseNext(rest); found !== null; found = parseNext(rest)) {
    // A 100 precedes the actual response.
    if (found.answer.status !== 100) answers.push(found.answer);
    rest = rest.subarray(found.length);
  }
  return answers;
}

/** After broken bytes, the server may have read the request as a `HEAD`, so both readings are tried. */
function parseNext(bytes: Buffer): ReturnType<typeof parseAnswer> {
  const head = parseAnswer(bytes, true);
  const behind = bytes.subarray(head?.length ?? 0).toString("latin1", 0, 9);
  return behind === "" || behind === "HTTP/1.1 " ? head : parseAnswer(bytes, false);
}

function parseAnswer(bytes: Buffer, isHead: boolean): { answer: RawAnswer; length: number } | null {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const [statusLine = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const status = Number(/^HTTP\/1\.1 ([0-9]{3}) /.exec(statusLine)?.[1]);
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const from = end + 4;
  if (!isHead && headers.get("transfer-encoding") === "chunked") {
    const chunked = readChunks(bytes, from);
    return chunked && { answer: { status, headers, body: chunked.body }, length: chunked.end };
  }
  const length = from + (isHead ? 0 : Number(headers.get("content-length") ?? 0));
  if (bytes.length < length) return null;
  const sent = bytes.subarray(from, length);
  const isPacked = !isHead && headers.get("content-encoding") === "gzip";
  const body = (isPacked ? gunzipSync(sent) : sent).toString("utf8");
  return { answer: { status, headers, body }, length };
}

/** Reads the trailers after the last chunk, which end with an empty line; `null` while they are incomplete. */
function endOfChunks(bytes: Buffer, lineEnd: number, chunks: readonly Buffer[]) {
  const end = bytes.indexOf("\r\n\r\n", lineEnd);
  return end === -1 ? null : { body: Buffer.concat(chunks).toString("utf8"), end: end + 4 };
}

/** Reads a chunked body and its end; `null` while it is incomplete. */
function readChunks(bytes: Buffer, from: number): { body: string; end: number } | null {
  const chunks: Buffer[] = [];
  for (let at = from; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) return null;
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (bytes.length < next) return null;
    if (size === 0) return endOfChunks(bytes, lineEnd, chunks);
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = next;
  }
}
