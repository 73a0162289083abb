/**
 * The venue's order books and market metadata over real HTTP and WebSocket sockets on one port: `GET /book`,
 * `POST /books`, `GET /markets/keyset` and the market channel, in the venue's formats, correct unless set otherwise.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { ScriptedMetadata } from "./scripted-metadata.ts";
import { VenueBook, type VenueSide } from "./venue-book.ts";

/** Replaces the honest response: `null` leaves it unchanged, `hang` never responds. */
export type HttpFault = (path: string) => VenueReply | "hang" | null;
export type VenueReply = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
};

/** Replaces a message of the stream by any number of texts; an empty list drops it. */
export type MessageFault = (text: string) => readonly string[];

export type BookChange = {
  readonly assetId: string;
  readonly side: VenueSide;
  readonly price: string;
  readonly size: string;
};

type VenueOptions = {
  /** The clock; the system clock by default. */
  readonly nowMs?: () => number;
  /** Whether an unknown token has an empty book. */
  readonly hasEveryBook?: boolean;
};

type Subscriber = { readonly assetIds: Set<string> };

export class ScriptedVenue {
  /** The content of `GET /markets/keyset`. */
  readonly marketMetadata = new ScriptedMetadata();
  readonly #server: Server;
  readonly #sockets: WebSocketServer;
  readonly #books = new Map<string, VenueBook>();
  readonly #subscribers = new Map<WebSocket, Subscriber>();
  readonly #requests: string[] = [];
  readonly #nowMs: () => number;
  readonly #hasEveryBook: boolean;
  #httpFault: HttpFault = () => null;
  #messageFault: MessageFault = (text) => [text];
  #isSilent = false;
  #isFrozen = false;
  #pings = 0;

  private constructor(server: Server, { nowMs = Date.now, hasEveryBook = false }: VenueOptions) {
    this.#server = server;
    this.#nowMs = nowMs;
    this.#hasEveryBook = hasEveryBook;
    this.#sockets = new WebSocketServer({ server, path: "/ws/market", perMessageDeflate: false });
    this.#sockets.on("connection", (socket) => this.#onSocket(socket));
    server.on("request", (request, response) => void this.#onRequest(request, response));
  }

  /** Listens on a free port of loopback. */
  static async open(options: VenueOptions = {}): Promise<ScriptedVenue> {
    const server = createServer({ keepAliveTimeout: 60_000 });
    const venue = new ScriptedVenue(server, options);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return venue;
  }

  get restUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get wsUrl(): string {
    return `${this.restUrl.replace("http", "ws")}/ws/market`;
  }

  /** The addresses that a service reads books from. */
  get urls(): { restUrl: string; wsUrl: string } {
    return { restUrl: this.restUrl, wsUrl: this.wsUrl };
  }

  /** The settings of a service that uses this venue. */
  get settings(): Record<string, string> {
    return {
      ODDWIRE_VENUE: "polymarket",
      ODDWIRE_CLOB_URL: this.restUrl,
      ODDWIRE_CLOB_WS_URL: this.wsUrl,
      ODDWIRE_GAMMA_URL: this.restUrl,
    };
  }

  /** Method, path and body of all requests. */
  get requests(): readonly string[] {
    return this.#requests;
  }

  /** The number of text pings. */
  get pings(): number {
    return this.#pings;
  }

  /** The tokens requested on each open connection. */
  get subscriptions(): readonly (readonly string[])[] {
    return [...this.#subscribers.values()].map(({ assetIds }) => [...assetIds]);
  }

  /** Returns the book of a token; creates an empty one if there is none. */
  book(assetId: string, market = "0x01"): VenueBook {
    const unfinalized = this.#books.get(assetId);
    if (unfinalized !== undefined) return unfinalized;
    const book = new VenueBook({ assetId, market, timestampMs: this.#nowMs() });
    this.#books.set(assetId, book);
    return book;
  }

  removeBook(assetId: string): void {
    this.#books.delete(assetId);
  }

  /** Changes levels and sends all changes in one message, as the venue does for a pair. */
  change(changes: readonly BookChange[]): void {
    const timestampMs = this.#nowMs();
    const entries = changes.map(({ assetId, side, price, size }) => {
      const book = this.book(assetId);
      book.set(side, price, size);
      book.timestampMs = timestampMs;
      const { hash } = book.summary;
      const best = { best_bid: book.bestBid, best_ask: book.bestAsk };
      return { asset_id: assetId, price, size, side, hash, ...best };
    });
    const market = changes[0] === undefined ? "0x01" : this.book(changes[0].assetId).market;
    const timestamp = String(timestampMs);
    const assetIds = new Set(changes.map(({ assetId }) => assetId));
    this.#report(assetIds, (reported) => {
      const ofThem = entries.filter(({ asset_id: assetId }) => reported.has(assetId));
      return { market, price_changes: ofThem, timestamp, event_type: "price_change" };
    });
  }

  /** Sends a whole book, as the venue does after trades. */
  sendBook(assetId: string): void {
    this.#report(new Set([assetId]), () => this.book(assetId).message);
  }

  trade(assetId: string, price: string, size = "10"): void {
    const book = this.book(assetId);
    book.lastTradePrice = price;
    const { market } = book;
    const timestamp = String(this.#nowMs());
    const facts = { asset_id: assetId, market, price, size, side: "BUY", timestamp };
    this.#report(new Set([assetId]), () => ({
      ...facts,
      event_type: "last_trade_price",
      fee_rate_bps: "0",
    }));
  }

  changeTick(assetId: string, tickSize: string): void {
    const book = this.book(assetId);
    const { market, tickSize: old_tick_size } = book;
    book.tickSize = tickSize;
    const timestamp = String(this.#nowMs());
    const facts = { asset_id: assetId, market, old_tick_size, new_tick_size: tickSize, timestamp };
    this.#report(new Set([assetId]), () => ({ ...facts, event_type: "tick_size_change" }));
  }

  /** Sends this text to all clients. */
  say(text: string): void {
    for (const socket of this.#subscribers.keys()) socket.send(text);
  }

  /** Sets the fault of all requests from now on. */
  set httpFault(fault: HttpFault | null) {
    this.#httpFault = fault ?? (() => null);
  }

  /** Sets the fault of all book messages from now on. */
  set messageFault(fault: MessageFault | null) {
    this.#messageFault = fault ?? ((text) => [text]);
  }

  /** Stops or resumes all messages of the stream. Connections stay open. */
  set isSilent(isSilent: boolean) {
    this.#isSilent = isSilent;
  }

  /** Stops or resumes the books of the stream. It still answers PING. */
  set isFrozen(isFrozen: boolean) {
    this.#isFrozen = isFrozen;
  }

  /** Cuts the connections of the stream without a closing frame. */
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

  #find(assetId: string): VenueBook | null {
    if (this.#hasEveryBook) return this.book(assetId);
    return this.#books.get(assetId) ?? null;
  }

  #report(
    assetIds: ReadonlySet<string>,
    message: (reported: ReadonlySet<string>) => unknown,
  ): void {
    if (this.#isSilent || this.#isFrozen) return;
    for (const [socket, subscriber] of this.#subscribers) {
      const reported = new Set([...assetIds].filter((id) => subscriber.assetIds.has(id)));
      if (reported.size === 0) continue;
      for (const text of this.#messageFault(JSON.stringify(message(reported)))) socket.send(text);
    }
  }

  #onSocket(socket: WebSocket): void {
    const subscriber: Subscriber = { assetIds: new Set() };
    this.#subscribers.set(socket, subscriber);
    socket.on("close", () => this.#subscribers.delete(socket));
    socket.on("error", () => socket.terminate());
    socket.on("message", (data) => {
      const text = (data as Buffer).toString();
      if (text === "PING") {
        this.#pings += 1;
        if (!this.#isSilent) socket.send("PONG");
      } else this.#subscribe(socket, subscriber, text);
    });
  }

  #subscribe(socket: WebSocket, { assetIds }: Subscriber, text: string): void {
    type Request = { assets_ids: string[]; operation?: string };
    const { assets_ids: ids, operation } = JSON.parse(text) as Request;
    if (operation === "unsubscribe") {
      for (const assetId of ids) assetIds.delete(assetId);
      return;
    }
    for (const assetId of ids) assetIds.add(assetId);
    const books = ids.flatMap((assetId) => this.#find(assetId)?.message ?? []);
    if (this.#isSilent || this.#isFrozen) return;
    for (const reported of this.#messageFault(JSON.stringify(books))) socket.send(reported);
  }

  async #onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url ?? "";
    const text = Buffer.concat(chunks).toString();
    this.#requests.push(`${request.method} ${path} ${text}`);
    const fault = this.#httpFault(path);
    if (fault === "hang") return;
    const { status, headers, body } = fault ?? this.#answer(path, text);
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
  }

  #answer(path: string, body: string): VenueReply {
    const url = new URL(path, this.restUrl);
    if (url.pathname === "/markets/keyset") return this.marketMetadata.answer(url.searchParams);
    if (url.pathname === "/books") {
      const requested = JSON.parse(body) as { token_id: string }[];
      const books = requested.flatMap(({ token_id: id }) => this.#find(id)?.summary ?? []);
      return { status: 200, body: JSON.stringify(books) };
    }
    const book = this.#find(url.searchParams.get("token_id") ?? "");
    if (url.pathname !== "/book" || book === null) {
      const error = "No orderbook exists for the requested token id";
      return { status: 404, body: JSON.stringify({ error }) };
    }
    return { status: 200, body: JSON.stringify(book.summary) };
  }
}
