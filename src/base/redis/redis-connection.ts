import { once } from "node:events";
import { redisLimits } from "../config/cluster-limits.ts";
import { AppError, toError } from "../errors.ts";
import type { Log } from "../log.ts";
import { systemClock } from "../time/clock.ts";
import { backoffMs } from "../time/retry.ts";

/**
 * Error codes of a server that is not, or not now, the one that takes our commands: a replica, a node of another slot, a
 * server that loads its data or has lost its replicas. The address may lead to another server by now.
 */
const wrongServer =
  /^(READONLY|LOADING|MASTERDOWN|NOREPLICAS|MOVED|ASK|TRYAGAIN|CLUSTERDOWN|UNBLOCKED)\b/;

type RedisClient = Awaited<ReturnType<typeof makeClient>>;

/**
 * A connection to Redis that reconnects whenever it is lost, and when it leads to the wrong server: then with all others
 * of this process, which can lead to the same server without an error. Every command has a timeout, and none waits for
 * a connection. Only the roles of a cluster open one.
 */
export class RedisConnection {
  static readonly #open = new Set<RedisConnection>();
  /** Monotonic time at which connections were last replaced because of the wrong server. */
  static #replacedMs = Number.NEGATIVE_INFINITY;
  readonly #client: RedisClient;
  readonly #log: Log;
  #isWarned = false;
  /** The last warning, and its monotonic time. */
  #warned = { text: "", atMs: 0 };
  #downSinceMs: number | null = systemClock.monotonicMs();
  #downMs = 0;
  #observedMs = systemClock.monotonicMs();
  #isClosed = false;

  private constructor(client: RedisClient, log: Log) {
    this.#client = client;
    this.#log = log;
    RedisConnection.#open.add(this);
    client.on("ready", () => this.#cameUp());
    client.on("ping-interval", () => this.#recordContact());
    // Every failed attempt to connect emits an error. Only the first is logged as a warning.
    client.on("error", (thrown: unknown) => this.#wentDown(toError(thrown)));
  }

  /**
   * Resolves after the first attempt to connect, or when Redis has not answered in time. Further attempts follow in the
   * background. The URL is `redis://` or `rediss://`, with user and password if Redis requires them.
   */
  static async open({ url, log }: { readonly url: string; readonly log: Log }) {
    const client = await makeClient(url);
    const connection = new RedisConnection(client, log);
    const signal = AbortSignal.timeout(redisLimits.connectTimeoutMs);
    const firstAttempt = once(client, "ready", { signal });
    // Rejects only if the client is closed before it connects.
    client.connect().catch(() => {});
    // Rejects when an attempt fails, which is logged, and when there is no answer in time.
    await firstAttempt.catch(() => {});
    return connection;
  }

  get isUp(): boolean {
    return this.#downSinceMs === null;
  }

  /** Total seconds without a connection since this was opened. */
  get downSeconds(): number {
    const since = this.#downSinceMs;
    const present = since === null ? 0 : systemClock.monotonicMs() - since;
    return (this.#downMs + present) / 1000;
  }

  /**
   * Runs `command` and returns its answer. Throws `SERVICE_UNAVAILABLE` without a connection, on an error of Redis, and
   * after `timeoutMs`, when Redis may have run the command all the same. The `cause` has the reason, for the log.
   */
  async run<Answer>(
    command: (client: RedisClient) => Promise<Answer>,
    timeoutMs: number = redisLimits.commandTimeoutMs,
  ): Promise<Answer> {
    const { promise: tooLate, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const late = new Error(`Redis has not answered within ${timeoutMs} ms`);
      // If this process was busy, answers that have arrived meanwhile are read first.
      setImmediate(() => {
        this.#replaceIfSilent();
        reject(unavailable(late));
      });
    }, timeoutMs);
    try {
      return await Promise.race([this.#observed(command(this.#client)), tooLate]);
    } catch (thrown) {
      if (thrown instanceof AppError) throw thrown;
      const error = toError(thrown);
      if (wrongServer.test(error.message)) RedisConnection.#leaveServer(error);
      throw unavailable(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Closes the connection. Commands in progress fail. */
  close(): void {
    this.#isClosed = true;
    RedisConnection.#open.delete(this);
    if (this.#client.isOpen) this.#client.destroy();
  }

  /** Records when the answer arrives, also if that is too late for the caller. */
  async #observed<Answer>(answer: Promise<Answer>): Promise<Answer> {
    const received = await answer;
    this.#recordContact();
    return received;
  }

  #recordContact(): void {
    this.#observedMs = systemClock.monotonicMs();
  }

  /** Replaces a silent connection. Its own timeout restarts with every command sent, so it only ends idle ones. */
  #replaceIfSilent(): void {
    const silentMs = systemClock.monotonicMs() - this.#observedMs;
    if (silentMs < redisLimits.silenceMsMax) return;
    this.#replace(new Error(`Redis has been silent for ${Math.round(silentMs)} ms`));
  }

  /** Replaces all connections of this process, but not more often than the address can lead to another server. */
  static #leaveServer(reason: Error): void {
    const nowMs = systemClock.monotonicMs();
    if (nowMs - RedisConnection.#replacedMs < redisLimits.wrongServerMsMin) return;
    RedisConnection.#replacedMs = nowMs;
    for (const connection of RedisConnection.#open) connection.#replace(reason);
  }

  /** Connects again, by the name in the URL. */
  #replace(reason: Error): void {
    if (!this.isUp || !this.#client.isOpen) return;
    this.#wentDown(reason);
    this.#client.destroy();
    // Subscriptions are made again. Rejects only if the client is closed before it connects.
    this.#client.connect().catch(() => {});
  }

  #cameUp(): void {
    // node-redis does not stop a socket that is just connecting. It would stay, and so would this process.
    if (this.#isClosed) return this.#client.destroy();
    this.#recordContact();
    if (this.#downSinceMs === null) return;
    this.#downMs += systemClock.monotonicMs() - this.#downSinceMs;
    this.#downSinceMs = null;
    this.#log[this.#isWarned ? "info" : "debug"]("connected to Redis");
    this.#isWarned = false;
  }

  #wentDown(error: Error): void {
    // Commands that this process ends by closing fail too.
    if (this.#isClosed) return;
    const message =
      this.#downSinceMs === null ? "lost the connection to Redis" : "Redis is unavailable";
    const nowMs = systemClock.monotonicMs();
    this.#downSinceMs ??= nowMs;
    // While the address leads to the wrong server, the same happens every second.
    const isSame = error.message === this.#warned.text;
    const isRepeated = isSame && nowMs - this.#warned.atMs < redisLimits.sameWarningMs;
    const isWarning = !this.#isWarned && !isRepeated;
    this.#log[isWarning ? "warn" : "debug"]({ err: error }, message);
    if (!isWarning) return;
    this.#warned = { text: error.message, atMs: nowMs };
    this.#isWarned = true;
  }
}

function unavailable(cause: Error): AppError {
  return new AppError("SERVICE_UNAVAILABLE", { cause, retryAfterSeconds: 1 });
}

async function makeClient(url: string) {
  // The package is loaded only when Redis is configured.
  const { createClient } = await import("redis");
  const { connectTimeoutMs, reconnectBackoff, silenceMsMax, pingIntervalMs } = redisLimits;
  return createClient({
    url,
    commandsQueueMaxLength: redisLimits.commandsWaitingMax,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: "disabled",
    pingInterval: pingIntervalMs,
    socket: {
      connectTimeout: connectTimeoutMs,
      socketTimeout: silenceMsMax,
      reconnectStrategy: (attempt) => backoffMs(attempt, reconnectBackoff, Math.random),
    },
  });
}
