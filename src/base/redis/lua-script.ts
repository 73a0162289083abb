import { hash } from "node:crypto";
import { toError } from "../errors.ts";
import type { RedisConnection } from "./redis-connection.ts";

/** A script that Redis runs atomically. Calls send its hash, and its source only when Redis does not have it. */
export class LuaScript {
  readonly #text: string;
  readonly #hash: string;

  constructor(text: string) {
    this.#text = text;
    this.#hash = hash("sha1", text);
  }

  /** Runs the script and returns its answer. Throws as `RedisConnection.run`. */
  async run(
    redis: RedisConnection,
    parameters: {
      readonly keys: readonly string[];
      readonly values: readonly (string | number | Buffer)[];
    },
    timeoutMs?: number,
  ): Promise<unknown> {
    const values = parameters.values.map((value) =>
      Buffer.isBuffer(value) ? value : String(value),
    );
    const options = { keys: [...parameters.keys], arguments: values };
    return redis.run(async (client) => {
      try {
        return await client.evalSha(this.#hash, options);
      } catch (thrown) {
        if (!toError(thrown).message.startsWith("NOSCRIPT")) throw thrown;
        return client.eval(this.#text, options);
      }
    }, timeoutMs);
  }
}
