/** HTTP/1.1 by hand, for requests that no client would send: many in flight, answers in order. */
import { connect, type Socket } from "node:net";
import { gunzipSync } from "node:zlib";
import { waitMsMax } from "./wait-for.ts";

export type RawAnswer = {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  /** Unpacked. */
  readonly body: string;
};

type Waiting = {
  readonly isHead: boolean;
  readonly resolve: (answer: RawAnswer) => void;
  readonly reject: (error: Error) => void;
};

/** A connection that stays open; it fails when the server closes it or says nothing for too long. */
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

  /** Sends a request behind those that are in flight. Latin-1, but for the body, which is UTF-8. */
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

/** Sends bytes and the end of them from an address of 127.0.0.0/8; all answers until the close. */
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
  // A reset while we still send is the server's right, once its answer is there.
  socket.on("error", () => socket.destroy());
  socket.on("close", () => resolve(parseAnswers(Buffer.concat(chunks))));
  socket.end(bytes);
  return promise;
}

/** Whole answers only: what is cut off by a reset is no answer. */
function parseAnswers(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = bytes;
  for (let found = parseNext(rest); found !== null; found = parseNext(rest)) {
    // The first half of an expectation is followed by the answer itself.
    if (found.answer.status !== 100) answers.push(found.answer);
    rest = rest.subarray(found.length);
  }
  return answers;
}

/** Who sent broken bytes cannot know whether the server took them for a `HEAD`. */
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

/** A body in chunks, and where it ends; `null` while it has not. */
function readChunks(bytes: Buffer, from: number): { body: string; end: number } | null {
  const chunks: Buffer[] = [];
  for (let at = from; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) return null;
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (bytes.length < next) return null;
    if (size === 0) return { body: Buffer.concat(chunks).toString("utf8"), end: next };
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = next;
  }
}
