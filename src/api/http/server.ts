import { createServer, type IncomingMessage, METHODS, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Readable } from "node:stream";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { TObject } from "typebox";
import { type Access, type Admission, isAdministrative } from "../../access/admission.ts";
import { webLimits } from "../../base/config/limits.ts";
import { AppError, type ErrorCode } from "../../base/errors.ts";
import { compileReader, invalid } from "../../base/input/compile-reader.ts";
import type { Log } from "../../base/log.ts";
import type { DescribeId } from "../../base/near-name.ts";
import { thenMaybe } from "../../base/time/awaitable.ts";
import type { Clock } from "../../base/time/clock.ts";
import { type Freshness, nothingIndexed } from "../../rows/freshness.ts";
import { FastPath } from "../cache/fast-path.ts";
import { SingleFlight } from "../cache/single-flight.ts";
import type { Answered, Observation } from "../metrics/request-meter.ts";
import { errorAnswer, jsonContentType, toAppError } from "../route/error-answer.ts";
import { bodyFor, type PackableBytes } from "../route/gzip.ts";
import { ResponseCache } from "../route/response-cache.ts";
import type { Route } from "../route/route.ts";
import type { StreamServer } from "../stream/stream-server.ts";
import { allowsOrigin, answerHeaders, corsHeaders, preflightHeaders } from "./answer-headers.ts";
import { readJsonBodies } from "./json-body.ts";
import { everyMethod, RawResponses } from "./raw-responses.ts";
import { findHostFault, getRequestId, hasBody } from "./request-head.ts";
import { frameworkOptions, getNodeOptions, type SocketOptions } from "./server-options.ts";
import { acceptsPage, findCanonicalTarget, unknownPath } from "./unknown-path.ts";

type ServerOptions = SocketOptions & {
  readonly routes: readonly Route[];
  readonly admission: Admission;
  readonly corsOrigins: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  /** Describes ids of the wrong form in errors, by what is indexed. */
  readonly describeId?: DescribeId;
  /** The freshness in `meta`; not needed when no response has `meta`. */
  readonly freshness?: () => Freshness;
  readonly observe?: (observation: Observation) => void;
  /** The page that browsers get at a request target instead of `NOT_FOUND`. Without it they get the error as JSON. */
  readonly unknownPage?: (target: string) => Promise<PackableBytes>;
  /** Takes requests that upgrade to WebSocket. */
  readonly stream?: Pick<StreamServer, "accepts" | "take">;
};

/** The configuration of a route that hooks read for every request. */
declare module "fastify" {
  interface FastifyContextConfig {
    access?: Access;
    /** The path as in the documentation. */
    path?: string;
    /** The methods of the path, for `Allow`. */
    allow?: string;
    refusesBody?: boolean;
  }
  interface FastifyRequest {
    /** The code of the error that was sent, if any. */
    errorCode: ErrorCode | null;
  }
}

/**
 * The HTTP service. The life of a request, in order:
 *
 *   malformed bytes -> RawResponses
 *   request whose response is cached -> FastPath: admission, response
 *   any other request -> #receive: admission, headers of every response, path, Host, body allowed
 *           -> refuseMethod if the path has no such method
 *           -> the body as JSON -> path, body and query string read by their schemas
 *           -> whenReady: the wait for a position that another node has reached
 *           -> SingleFlight: the response of a request that is under way, or the route's handler
 *           -> the key again, which can be revoked by now -> response
 *
 * An error anywhere goes to #answerError.
 */
export class HttpServer {
  readonly #app: FastifyInstance;
  readonly #options: ServerOptions;
  readonly #corsOrigins: ReadonlySet<string>;
  readonly #paths: readonly string[];
  readonly #singleFlight: SingleFlight;
  readonly #fastPath: FastPath;
  readonly #idleConnections: IdleConnections;
  readonly #rawResponses: RawResponses;
  #url = "";

  private constructor(options: ServerOptions) {
    this.#options = options;
    this.#corsOrigins = new Set(options.corsOrigins);
    this.#paths = [...new Set(options.routes.map(({ path }) => path))];
    this.#rawResponses = new RawResponses(options);
    const cache = new ResponseCache();
    const { freshness = () => nothingIndexed } = options;
    this.#singleFlight = new SingleFlight(cache, freshness);
    this.#fastPath = new FastPath({
      cache,
      freshness,
      admission: options.admission,
      corsOrigins: this.#corsOrigins,
      onAnswered: this.#record.bind(this),
    });
    const receive = this.#receive.bind(this);
    const answerError = this.#answerError.bind(this);
    this.#app = fastify({
      ...frameworkOptions,
      // Cached responses do not reach Fastify, except while the server closes: Fastify then adds `Connection: close`.
      serverFactory: (handle) =>
        createServer(getNodeOptions(options), (request, response) => {
          const isTaken = this.node.listening && this.#fastPath.tryAnswer(request, response);
          if (isTaken === true) return;
          this.#rawResponses.pending.add(response);
          void thenMaybe(isTaken, (isAnswered) => {
            if (!isAnswered) handle(request, response);
          });
        }).setTimeout(webLimits.socketIdleTimeoutMs, (socket) =>
          this.#rawResponses.pending.close(socket),
        ),
      genReqId: getRequestId,
      clientErrorHandler: (error, socket) => this.#rawResponses.answerMalformed(error, socket),
      // A path that cannot be decoded is an unknown path. Fastify runs no hooks for it, so they are called here.
      frameworkErrors: (_error, request, reply) =>
        receive(request, reply, (refusal) => {
          answerError(refusal ?? unknownPath(request.raw.url, this.#paths), request, reply);
          this.#recordAnswer(request, reply.statusCode);
        }),
    });
    this.#app.decorateRequest("caller");
    this.#app.decorateRequest("errorCode", null);
    this.#app.addHook("onRequest", receive);
    this.#app.addHook("onSend", (...[request, reply, , done]) => {
      this.#recordAnswer(request, reply.statusCode);
      done();
    });
    this.#app.setErrorHandler(answerError);
    readJsonBodies(this.#app);
    this.#app.setValidatorCompiler(({ schema, httpPart }) => {
      const source = httpPart === "params" ? "path" : httpPart === "body" ? "body" : "query";
      const read = compileReader(schema as TObject, source, { describe: options.describeId });
      return (input: unknown) => ({ value: read(input) });
    });
    this.#addRoutes();
    this.#answerWhatNodeWould();
    this.#idleConnections = new IdleConnections(this.node);
  }

  /** Starts the server. Resolves when it listens. */
  static async open(options: ServerOptions): Promise<HttpServer> {
    const server = new HttpServer(options);
    server.node.maxConnections = webLimits.connectionsMax;
    server.node.on("connection", (socket) => {
      if (!options.admission.admitConnection(socket)) socket.destroy();
    });
    await server.#app.listen({ host: options.host, port: options.port });
    const { address, family, port } = server.node.address() as AddressInfo;
    server.#url = `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
    return server;
  }

  /** Node's server, for the stream to take upgrades from. */
  get node(): Server {
    return this.#app.server;
  }

  /** The URL of the server, such as `http://127.0.0.1:8080`. */
  get url(): string {
    return this.#url;
  }

  /** Stops accepting connections and waits for requests in flight, up to `drainTimeoutMs`. */
  async close(): Promise<void> {
    const { drainTimeoutMs, silentDrainMs, idleSweepMs } = webLimits;
    const deadline = setTimeout(
      () => this.#rawResponses.pending.closeAll(this.node),
      drainTimeoutMs,
    );
    const silence = setTimeout(() => this.#idleConnections.destroyAll(), silentDrainMs);
    // A response that began before the close promised keep-alive, so its connection is closed when it becomes idle.
    const idle = setInterval(() => this.node.closeIdleConnections(), idleSweepMs);
    try {
      await this.#app.close();
    } finally {
      clearTimeout(deadline);
      clearTimeout(silence);
      clearInterval(idle);
    }
  }

  #receive(request: FastifyRequest, reply: FastifyReply, done: (refusal?: Error) => void): void {
    const counted = this.#fastPath.getCaller(request.raw);
    const caller = counted ?? this.#options.admission.admit(request.raw, this.#getAccess(request));
    void thenMaybe(caller, (admitted) => {
      request.caller = admitted;
      this.#begin(request, reply, done);
    });
  }

  #begin(request: FastifyRequest, reply: FastifyReply, done: (refusal?: Error) => void): void {
    const { caller } = request;
    const { refusesBody, allow, path } = request.routeOptions.config;
    reply.headers(answerHeaders(caller, request.id));
    reply.headers(corsHeaders(request.headers.origin, this.#corsOrigins));
    if (allow !== undefined) reply.header("allow", allow);
    // `OPTIONS *` is about the server as a whole, whatever route the router finds (RFC 9110, 9.3.7).
    const isOfServer = request.method === "OPTIONS" && request.raw.url === "*";
    const hostFault = findHostFault(request.raw);
    if (caller.refusal !== null) done(caller.refusal);
    else if (!isOfServer && (path === undefined || request.raw.url === "*"))
      this.#leave(request, reply, done);
    else if (hostFault !== null) done(hostFault);
    else if (refusesBody && hasBody(request.raw)) done(invalid("body", "is not accepted here"));
    else if (isOfServer) void reply.code(204).header("allow", everyMethod).send();
    else done();
  }

  /** Answers a request for an unknown path: by a redirect if it only has a slash too many. */
  #leave({ raw }: FastifyRequest, reply: FastifyReply, done: (refusal: Error) => void): void {
    const location = findCanonicalTarget(raw.url, this.#paths);
    if (location === null) done(unknownPath(raw.url, this.#paths));
    else void reply.code(308).header("location", location).send();
  }

  /** Returns the access of a request. Only a preflight of an allowed origin is one; any other `OPTIONS` is public. */
  #getAccess({ headers, routeOptions }: FastifyRequest): Access {
    const { access = "optional" } = routeOptions.config;
    if (access !== "preflight") return access;
    const isPreflight = headers["access-control-request-method"] !== undefined;
    return isPreflight && allowsOrigin(headers.origin, this.#corsOrigins) ? "preflight" : "public";
  }

  #answerError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
    // The client has disconnected, so its response was destroyed. There is nothing to send and nothing to log.
    const { code } = (thrown ?? {}) as NodeJS.ErrnoException;
    if (reply.raw.destroyed && code === "ERR_STREAM_PREMATURE_CLOSE") return;
    const error = toAppError(thrown);
    const { status, headers, body } = errorAnswer(error, request.id);
    request.errorCode = error.code;
    if (status >= 500) this.#logFailure(error, request);
    // Fastify would close the connection after a refused body, and the reset could reach the client before the error.
    // Without that header there is nothing to remove: Node would then no longer announce what it does itself.
    if (this.node.listening && reply.hasHeader("connection")) reply.removeHeader("connection");
    // Those of the response that the error replaces.
    for (const name of ["content-encoding", "etag", "link", "trailer"]) reply.removeHeader(name);
    void reply.code(status).headers(headers);
    // A browser that opens an unknown page gets one of the explorer's.
    const isUnknownPage = error.code === "NOT_FOUND" && acceptsPage(request.raw);
    const page = isUnknownPage ? this.#options.unknownPage?.(request.raw.url ?? "/") : undefined;
    if (page === undefined) return void reply.send(body);
    const packed = page.then((bytes) => bodyFor(reply, bytes));
    void packed.catch(() => body).then((content) => reply.send(content));
  }

  /** Logs a 5xx error. A 503 without a cause is a limit that callers reached, so it is logged as information. */
  #logFailure(error: AppError, request: FastifyRequest): void {
    const { code, cause } = error;
    const facts = { request_id: request.id, route: getRoute(request), code };
    const { log } = this.#options;
    if (code === "SERVICE_UNAVAILABLE" && cause === undefined) log.info(facts, error.message);
    else log.error({ ...facts, err: cause ?? error }, "request failed");
  }

  #addRoutes(): void {
    const methods = METHODS.filter((method) => method !== "CONNECT");
    for (const method of methods)
      if (!this.#app.supportedMethods.includes(method)) this.#app.addHttpMethod(method);
    for (const [path, routes] of Map.groupBy(this.#options.routes, (route) => route.path)) {
      const url = path.replaceAll(/\{(\w+)\}/g, ":$1");
      const allowed = routes.flatMap(({ method }) =>
        method === "GET" ? ["GET", "HEAD"] : [method],
      );
      const allow = [...allowed, "OPTIONS"].join(", ");
      for (const route of routes) this.#addRoute(url, route);
      // The router would take `/v1/markets/` for a market without an id. This makes it an unknown path, like `/v1/trades/`.
      if (path.startsWith("/v1/") && path.includes("{"))
        this.#app.all(url.replaceAll(/:\w+/g, ""), refuseMethod);
      this.#addPreflight({ url, path, allow });
      this.#app.route({
        url,
        method: methods.filter((method) => method !== "OPTIONS" && !allowed.includes(method)),
        config: { access: "optional", path, allow },
        onRequest: refuseMethod,
        handler: refuseMethod,
      });
    }
  }

  #addRoute(url: string, route: Route): void {
    const { method, path, params, querystring, body, access, whenReady } = route;
    const { contentType = jsonContentType, cacheControl = "no-store", statuses } = route;
    const [status] = statuses ?? [200];
    this.#app.route({
      url,
      method,
      schema: { params, querystring, ...(body === undefined ? {} : { body }) },
      config: { access, path, refusesBody: body === undefined },
      handler: (request, reply) => {
        reply.header("content-type", contentType).header("cache-control", cacheControl);
        reply.code(status);
        const makeAnswer = () => this.#singleFlight.answer(route, reply);
        const ready = whenReady?.(request) ?? null;
        const answer = ready === null ? makeAnswer() : ready.then(makeAnswer);
        // A request of an administrator can revoke its own key, so its key is not checked again.
        return isAdministrative(access) ? answer : this.#unlessRevoked(request, answer);
      },
    });
  }

  /** Throws if the key stopped working while the response was made. Streamed bodies check it themselves. */
  async #unlessRevoked({ caller }: FastifyRequest, answer: Promise<unknown>): Promise<unknown> {
    const made = await answer;
    const refusal = made instanceof Readable ? null : this.#options.admission.refusalSince(caller);
    if (refusal !== null) throw refusal;
    return made;
  }

  /** Adds `OPTIONS`: the methods of the path and, for pages of allowed origins, the headers they can send. */
  #addPreflight({ url, path, allow }: { url: string; path: string; allow: string }): void {
    this.#app.route({
      url,
      method: "OPTIONS",
      config: { access: "preflight", path, allow, refusesBody: true },
      handler: (_request, reply) => {
        if (reply.hasHeader("access-control-allow-origin"))
          reply.headers(preflightHeaders).header("access-control-allow-methods", allow);
        return reply.code(204).send();
      },
    });
  }

  #recordAnswer(request: FastifyRequest, status: number): void {
    const { id: requestId, caller, method, errorCode: code } = request;
    this.#record({ requestId, caller, method, route: getRoute(request), status, code });
  }

  #record({ requestId, caller, ...answered }: Answered): void {
    const { observe, clock, log } = this.#options;
    const durationMs = clock.monotonicMs() - caller.startedAtMs;
    const { method, route, status, code } = answered;
    const observation = { method, route, status, code, durationMs };
    observe?.(observation);
    if (!log.isLevelEnabled("debug")) return;
    log.debug({ request_id: requestId, ip: caller.ip, ...observation }, "response sent");
  }

  /** Handles requests that Node would otherwise answer without our headers. */
  #answerWhatNodeWould(): void {
    const rawResponses = this.#rawResponses;
    this.node.on("upgrade", (request, socket: Socket, head) => {
      if (this.#options.stream?.accepts(request)) rawResponses.upgrade({ request, socket, head });
      else void rawResponses.decline(this.node, { request, socket, head });
    });
    // Without a socket, an earlier response is still being sent, and `100 Continue` would be written into it. Clients
    // send the body without it too.
    this.node.on("checkContinue", (request, response) => {
      if (response.socket !== null) response.writeContinue();
      this.node.emit("request", request, response);
    });
    this.node.on("checkExpectation", (request, response) => {
      this.node.emit("request", request, response);
    });
    this.node.on("connect", (request, socket: Socket) =>
      rawResponses.refuseConnect(request, socket),
    );
  }
}

/** Connections that have not sent a request. Node does not count them as idle, so closing would wait for them. */
class IdleConnections {
  readonly #sockets = new Set<Socket>();

  constructor(server: Server) {
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    const remove = ({ socket }: IncomingMessage) => this.#sockets.delete(socket);
    server.on("request", remove);
    server.on("upgrade", remove);
  }

  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** Returns the route of a request for metrics and logs: never the raw path, which can be anything. */
function getRoute({ routeOptions }: FastifyRequest): string {
  return routeOptions.config.path ?? "unknown";
}

function refuseMethod({ method, routeOptions }: FastifyRequest): never {
  const { allow } = routeOptions.config;
  throw new AppError("METHOD_NOT_ALLOWED", `${method} is not possible here, only ${allow}`);
}
