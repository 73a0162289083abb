import { redisLimits } from "./config/cluster-limits.ts";
import { AppError, toError } from "./errors.ts";
import type { Log } from "./log.ts";
import type { Clock } from "./time/clock.ts";
import { backoffMs } from "./time/retry.ts";

/** The commands of node-redis. */
export type RedisClient = Awaited<ReturnType<typeof makeClient>>;

/** Which Redis, and what is noted about it. */
export type RedisOptions = {
  /** `redis://` or `rediss://`, with user and password if it asks for them. */
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
};

/**
 * One connection to Redis, which is made again whenever it is lost. Every command has a time limit, and none waits for
 * a connection. Only roles of a cluster open one.
 */
export class RedisConnection {
  readonly #client: RedisClient;
  readonly #clock: Clock;
  #downSinceMs: number | null;
  #downMs = 0;

  private constructor(client: RedisClient, { clock, log }: RedisOptions) {
    this.#client = client;
    this.#clock = clock;
    this.#downSinceMs = clock.monotonicMs();
    client.on("ready", () => this.#cameUp(log));
    // Every failed attempt to connect is an error: only the change of state is logged.
    client.on("error", (thrown: unknown) => this.#wentDown(toError(thrown), log));
  }

  /** Resolves with the first connection, or when the first attempt has failed: then it goes on trying. */
  static async open(options: RedisOptions): Promise<RedisConnection> {
    const client = await makeClient(options.url);
    const connection = new RedisConnection(client, options);
    const { promise: firstAttempt, resolve } = Promise.withResolvers<void>();
    client.once("ready", resolve);
    client.once("error", () => resolve());
    // Rejects only when it is closed before the first connection.
    client.connect().catch(() => resolve());
    await firstAttempt;
    return connection;
  }

  get isUp(): boolean {
    return this.#downSinceMs === null;
  }

  /** Seconds without Redis since this was opened, all interruptions together. */
  get downSeconds(): number {
    const since = this.#downSinceMs;
    const present = since === null ? 0 : this.#clock.monotonicMs() - since;
    return (this.#downMs + present) / 1000;
  }

  /**
   * The answer to what `command` asks. Throws `SERVICE_UNAVAILABLE` without a connection, on an error of Redis, and
   * without an answer within `timeoutMs`; Redis may then have done it. The `cause` says which, for the log.
   */
  async run<Answer>(
    command: (client: RedisClient) => Promise<Answer>,
    timeoutMs: number = redisLimits.commandTimeoutMs,
  ): Promise<Answer> {
    const { promise: tooLate, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(unavailable(new Error(`Redis has not answered within ${timeoutMs} ms`)));
    }, timeoutMs);
    try {
      return await Promise.race([command(this.#client), tooLate]);
    } catch (thrown) {
      throw thrown instanceof AppError ? thrown : unavailable(toError(thrown));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the connection; commands under way fail. */
  close(): void {
    if (this.#client.isOpen) this.#client.destroy();
  }

  #cameUp(log: Log): void {
    if (this.#downSinceMs === null) return;
    this.#downMs += this.#clock.monotonicMs() - this.#downSinceMs;
    this.#downSinceMs = null;
    log.info("connected to Redis");
  }

  #wentDown(error: Error, log: Log): void {
    if (this.#downSinceMs !== null) {
      log.debug({ err: error }, "Redis is unavailable");
      return;
    }
    this.#downSinceMs = this.#clock.monotonicMs();
    log.warn({ err: error }, "lost the connection to Redis");
  }
}

function unavailable(cause: Error): AppError {
  return new AppError("SERVICE_UNAVAILABLE", { cause, retryAfterSeconds: 1 });
}

async function makeClient(url: string) {
  // Loaded only where there is a Redis.
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
