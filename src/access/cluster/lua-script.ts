import { createHash } from "node:crypto";
import { toError } from "../../base/errors.ts";
import type { RedisClient } from "../../base/redis.ts";

/** A script that Redis runs atomically. Calls send its hash, and its source only when Redis does not have it. */
export class LuaScript {
  readonly #text: string;
  readonly #hash: string;

  constructor(text: string) {
    this.#text = text;
    this.#hash = createHash("sha1").update(text).digest("hex");
  }

  async run(
    client: RedisClient,
    keys: readonly string[],
    parameters: readonly (string | number)[],
  ): Promise<unknown> {
    const options = { keys: [...keys], arguments: parameters.map(String) };
    try {
      return await client.evalSha(this.#hash, options);
    } catch (thrown) {
      if (!toError(thrown).message.startsWith("NOSCRIPT")) throw thrown;
      return client.eval(this.#text, options);
    }
  }
}
