/**
 * Clients of the stream in a separate process. They only count bytes, so that the benchmark measures the server.
 * Commands are messages: open clients, or report when a number of bytes has arrived.
 */
import { connect, type Socket } from "node:net";

type Command =
  | {
      readonly open: number;
      readonly port: number;
      readonly path: string;
      readonly key: string;
      readonly first: string | null;
      /** Records when each block arrives. */
      readonly seesBlocks?: boolean;
    }
  | { readonly reportSeen: true }
  /** Sends a message for each block to publish, this many times. */
  | { readonly announce: number; readonly everyMs: number }
  | { readonly await: number }
  | { readonly close: true };

let sockets: Socket[] = [];
let received = 0;
let awaited = Infinity;
/** When bytes arrived last, and all arrivals. Milliseconds of the clock that all processes share. */
let lastAtMs = 0;
const arrivals: number[] = [];
/** For each client: when the last bytes of a block arrived, by block number. */
const seenBy: Map<number, number>[] = [];
/** Positions begin with the number of their block. Events of every channel have one. */
const positionField = '"seq":';
const positionsPerBlock = 1_000_000;

process.on("message", (command: Command) => {
  if ("open" in command) void open(command);
  else if ("await" in command) {
    awaited = command.await;
    report();
  } else if ("reportSeen" in command) {
    process.send?.({ seen: seenBy.splice(0).flatMap((seen) => [...seen]) });
  } else if ("announce" in command) {
    announce(command.announce, command.everyMs);
  } else {
    for (const socket of sockets) socket.destroy();
    sockets = [];
    process.send?.({ closed: true });
  }
});

async function open(command: Extract<Command, { open: number }>): Promise<void> {
  for (let index = 0; index < command.open; index += 1) {
    const socket = await upgrade(command);
    sockets.push(socket);
  }
  // The welcome frames and the responses to `subscribe` are not counted.
  setTimeout(() => {
    received = 0;
    arrivals.length = 0;
    process.send?.({ opened: command.open });
  }, 300);
}

async function upgrade({
  port,
  path,
  key,
  first,
  seesBlocks,
}: Extract<Command, { open: number }>): Promise<Socket> {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.once("data", () => resolve());
    socket.write(
      `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n` +
        `sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13\r\n` +
        `x-api-key: ${key}\r\n\r\n`,
    );
  });
  socket.on("data", (bytes) => {
    received += bytes.length;
    lastAtMs = performance.timeOrigin + performance.now();
    if (arrivals.length < 1_000_000) arrivals.push(lastAtMs);
    report();
  });
  if (seesBlocks === true) recordBlocks(socket);
  if (first !== null) socket.write(masked(first));
  return socket;
}

function announce(count: number, everyMs: number): void {
  process.send?.({ atMs: performance.timeOrigin + performance.now() });
  if (count > 1) setTimeout(() => announce(count - 1, everyMs), everyMs);
}

function recordBlocks(socket: Socket): void {
  const seen = new Map<number, number>();
  seenBy.push(seen);
  socket.on("data", (bytes) => {
    // If the client is late, several blocks can arrive together.
    for (let at = bytes.indexOf(positionField); at >= 0; ) {
      const from = at + positionField.length;
      const position = Number.parseInt(bytes.toString("latin1", from, from + 16), 10);
      const block = Math.floor(position / positionsPerBlock);
      seen.set(block, lastAtMs);
      // The chunk can end within a number, which is then not found again.
      const lastField = Math.max(at, bytes.lastIndexOf(`${positionField}${block}`));
      at = bytes.indexOf(positionField, lastField + 1);
    }
  });
}

function report(): void {
  if (received < awaited) return;
  awaited = Infinity;
  process.send?.({ received, lastAtMs, arrivals: arrivals.splice(0) });
  received = 0;
}

/** A masked text frame of a client. A mask of zeros leaves the payload unchanged. */
function masked(text: string): Buffer {
  const payload = Buffer.from(text);
  return Buffer.concat([
    Buffer.from([0x81, 0xfe, payload.length >> 8, payload.length & 255, 0, 0, 0, 0]),
    payload,
  ]);
}
