/**
 * A JSON-RPC node that serves a scripted chain over real HTTP and WebSocket sockets on one port. It is honest unless a
 * fault hook decides otherwise.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import type { BatchRefusal, FaultHook } from "./faults.ts";
import { RpcError, type RpcRequest, toHeader } from "./scripted-answers.ts";
import type { ScriptedBlock } from "./scripted-block.ts";
import { type Finality, ScriptedChain } from "./scripted-chain.ts";
import { ScriptedRpc } from "./scripted-rpc.ts";

export class ScriptedNode {
  readonly #server: Server;
  readonly #sockets: WebSocketServer;
  readonly #chain: ScriptedChain;
  readonly #rpc: ScriptedRpc;
  readonly #subscriptions = new Map<WebSocket, string[]>();
  #areHeadsSilent = false;

  private constructor(server: Server, chain: ScriptedChain, chainId: number) {
    this.#server = server;
    this.#chain = chain;
    this.#rpc = new ScriptedRpc(chain, chainId);
    this.#sockets = new WebSocketServer({ server, perMessageDeflate: false });
    this.#sockets.on("connection", (socket) => this.#onSocket(socket));
    server.on("request", (request, response) => void this.#onRequest(request, response));
  }

  /** Listens on a free port of loopback. The head is the last block, and it is final. */
  static async open(options: {
    blocks: readonly ScriptedBlock[];
    chainId?: number;
  }): Promise<ScriptedNode> {
    const server = createServer({ keepAliveTimeout: 60_000 });
    const chain = new ScriptedChain(options.blocks);
    const node = new ScriptedNode(server, chain, options.chainId ?? 137);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return node;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get wsUrl(): string {
    return this.url.replace("http", "ws");
  }

  get head(): number {
    return this.#chain.head;
  }

  /** The number of requests by method, including those with a fault. */
  get calls(): ReadonlyMap<string, number> {
    return this.#rpc.calls;
  }

  /** Moves the head and announces every block that became visible to subscribers. */
  setHead(number: number): void {
    const before = this.#chain.head;
    this.#chain.setHead(number);
    for (let block = before + 1; block <= number; block += 1) this.#announce(block);
  }

  setFinalized(finality: Finality): void {
    this.#chain.setFinalized(finality);
  }

  /** Replaces every block from `blocks[0].number` on, and announces the new ones. */
  fork(blocks: readonly ScriptedBlock[]): void {
    this.#chain.fork(blocks);
    for (const block of blocks) this.#announce(block.number);
  }

  /** Adds a hook. Hooks are called before every response, oldest first. Returns a function that removes the hook. */
  fault(hook: FaultHook): () => void {
    return this.#rpc.fault(hook);
  }

  /** Refuses batches of more than `callsMax` calls from now on; with 0, every batch. */
  limitBatches(callsMax: number, refusal: BatchRefusal): void {
    this.#rpc.limitBatches(callsMax, refusal);
  }

  /** Stops or resumes the announcement of new heads. Sockets stay open and answer requests. */
  silenceHeads(isSilent: boolean): void {
    this.#areHeadsSilent = isSilent;
  }

  /** Leaves the open WebSockets half-open: connected, but they neither read nor respond. */
  freezeSockets(): void {
    for (const socket of this.#sockets.clients) socket.pause();
    this.#subscriptions.clear();
  }

  /** Cuts the open WebSockets without a closing frame. */
  dropSockets(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
  }

  async close(): Promise<void> {
    this.dropSockets();
    this.#sockets.close();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if (body === null) return;
    const reply = this.#rpc.reply(body, null);
    switch (reply.kind) {
      case "text":
        response.writeHead(200, { "content-type": "application/json" }).end(reply.text);
        return;
      case "http":
        response.writeHead(reply.status, reply.headers).end(reply.body);
        return;
      case "reset":
        response.destroy();
        return;
      case "hang":
    }
  }

  #onSocket(socket: WebSocket): void {
    this.#subscriptions.set(socket, []);
    socket.on("close", () => this.#subscriptions.delete(socket));
    socket.on("error", () => socket.terminate());
    socket.on("message", (data) => {
      const subscribe = (request: RpcRequest) => this.#subscribe(request, socket);
      const reply = this.#rpc.reply((data as Buffer).toString(), subscribe);
      switch (reply.kind) {
        case "text":
          socket.send(reply.text);
          return;
        case "http":
          socket.close(1013, String(reply.status));
          return;
        case "reset":
          socket.terminate();
          return;
        case "hang":
      }
    });
  }

  #subscribe(request: RpcRequest, socket: WebSocket): string {
    if (request.params[0] !== "newHeads") throw new RpcError(-32602, "only newHeads is offered");
    const ids = this.#subscriptions.get(socket) ?? [];
    ids.push(`0x${(ids.length + 1).toString(16)}`);
    return JSON.stringify(ids.at(-1));
  }

  #announce(number: number): void {
    const block = this.#chain.blockAt(number);
    if (this.#areHeadsSilent || block === null) return;
    for (const [socket, ids] of this.#subscriptions) {
      for (const id of ids) {
        const params = `{"subscription":"${id}","result":${toHeader(block)}}`;
        socket.send(`{"jsonrpc":"2.0","method":"eth_subscription","params":${params}}`);
      }
    }
  }
}

/** Reads a body; `null` if the client disconnected first, since tests kill the service at any moment. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return null;
  }
  return Buffer.concat(chunks).toString();
}
