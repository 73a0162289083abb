/**
 * Load on an HTTP server in another process, over connections that stay open: at full speed or at a constant rate. At a
 * constant rate the latency of a request counts from when it was due, not from when it was sent. So a server that
 * stalls cannot hide it (no coordinated omission).
 */
import { connect, type Socket } from "node:net";

/** A server and the requests to send to it. */
export type Target = {
  readonly url: string;
  readonly key: string;
  /** Request targets, sent in turn. */
  readonly paths: readonly string[];
  readonly connections: number;
  /** The compression that the client accepts; none by default. */
  readonly accepted?: "gzip";
};

/** The result of a load. */
export type Load = { readonly requests: number; readonly p50Ms: number; readonly p99Ms: number };

type Reply = { readonly status: number };

/** Sends the next request of a connection as soon as the response arrives, for `forMs`, from a core of its own. */
export async function runClosedLoop(target: Target, forMs: number): Promise<Load> {
  const asking = runSharingLoop(target, forMs);
  await withoutSleep(asking);
  return asking;
}

/** Does what `runClosedLoop` does on a core that it shares with the server. */
export async function runSharingLoop(target: Target, forMs: number): Promise<Load> {
  const latencies: number[] = [];
  const next = getRequests(target);
  const until = performance.now() + forMs;
  const loop = async (): Promise<void> => {
    const connection = await Connection.open(target.url);
    while (performance.now() < until) {
      const sentAt = performance.now();
      assertFine(await connection.ask(next()));
      latencies.push(performance.now() - sentAt);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: target.connections }, loop));
  return getLoad(latencies);
}

/**
 * Keeps the load process awake. On one machine, each response to a sleeping client makes the server pay for waking it:
 * up to a third of the cost of a request, depending on how often the client sleeps.
 */
async function withoutSleep(asking: Promise<unknown>): Promise<void> {
  let isOver = false;
  const spin = (): void => {
    if (!isOver) setImmediate(spin);
  };
  spin();
  try {
    await asking;
  } finally {
    isOver = true;
  }
}

/** Requests each path once, one after the other. */
export async function runOneByOne(target: Target): Promise<Load> {
  const latencies: number[] = [];
  const next = getRequests(target);
  const connection = await Connection.open(target.url);
  for (const _ of target.paths) {
    const sentAt = performance.now();
    assertFine(await connection.ask(next()));
    latencies.push(performance.now() - sentAt);
  }
  connection.close();
  return getLoad(latencies);
}

/**
 * Sends `rate` requests per second for `forMs`, independent of the responses, over connections that are opened
 * before.
 */
export async function runConstantRate(target: Target, rate: number, forMs: number): Promise<Load> {
  const latencies: number[] = [];
  const next = getRequests(target);
  const total = Math.floor((rate * forMs) / 1000);
  const opening = Array.from({ length: target.connections }, () => Connection.open(target.url));
  const opened = await Promise.all(opening);
  const startedAt = performance.now();
  let due = 0;
  const loop = async (connection: Connection): Promise<void> => {
    while (due < total) {
      const dueAt = startedAt + (due * 1000) / rate;
      due += 1;
      const early = dueAt - performance.now();
      if (early > 1) await new Promise((resolve) => setTimeout(resolve, early));
      assertFine(await connection.ask(next()));
      latencies.push(performance.now() - dueAt);
    }
    connection.close();
  };
  await Promise.all(opened.map(loop));
  return getLoad(latencies);
}

function getRequests({ paths, key, accepted }: Target): () => Buffer {
  const coding = accepted === undefined ? "" : `accept-encoding: ${accepted}\r\n`;
  const lines = `host: bench\r\nx-api-key: ${key}\r\n${coding}`;
  const requests = paths.map((path) => Buffer.from(`GET ${path} HTTP/1.1\r\n${lines}\r\n`));
  let turn = 0;
  return () => {
    turn += 1;
    return requests[turn % requests.length] ?? Buffer.alloc(0);
  };
}

function assertFine({ status }: Reply): void {
  if (status !== 200) throw new Error(`the server answered ${status}`);
}

/** Summarizes latencies in milliseconds. */
export function getLoad(latencies: readonly number[]): Load {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { requests: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** One request at a time. Of a response it reads only the length. */
class Connection {
  readonly #socket: Socket;
  #left = 0;
  #status = 0;
  #early: Buffer = Buffer.alloc(0);
  #resolve: (reply: Reply) => void = () => {};
  #reject: (error: Error) => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (bytes) => this.#take(bytes));
    socket.on("close", () => this.#reject(new Error("the server closed the connection")));
  }

  static async open(url: string): Promise<Connection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await new Promise((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    return new Connection(socket);
  }

  ask(request: Buffer): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket.removeAllListeners("close");
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    if (this.#left > 0) return this.#count(bytes.length);
    const text = this.#early.length === 0 ? bytes : Buffer.concat([this.#early, bytes]);
    const end = text.indexOf("\r\n\r\n");
    if (end === -1) {
      this.#early = text;
      return;
    }
    this.#early = Buffer.alloc(0);
    const head = text.toString("latin1", 0, end);
    this.#status = Number(head.slice(9, 12));
    this.#left = Number(/content-length: ([0-9]+)/i.exec(head)?.[1] ?? 0);
    this.#count(text.length - end - 4);
  }

  #count(bytes: number): void {
    this.#left -= bytes;
    if (this.#left <= 0) this.#resolve({ status: this.#status });
  }
}
