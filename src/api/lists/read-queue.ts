import type { FastifyReply } from "fastify";
import { webLimits } from "../../base/config/limits.ts";
import { ConnectionPool } from "../../storage/engine/connection-pool.ts";

const { heavyReadsMax, heavyReadsWaitingMax } = webLimits;

/** Reads that take longer than a page: few run at the same time, the others wait in the order of their requests. */
export class ReadQueue {
  readonly #slots = new ConnectionPool([...Array(heavyReadsMax).keys()], {
    waitingMax: heavyReadsWaitingMax,
  });

  /** Throws `SERVICE_UNAVAILABLE` when too many wait, and `ClientGoneError` if the client left meanwhile. */
  async run<Result>({ raw }: FastifyReply, read: () => Promise<Result>): Promise<Result> {
    return this.#slots.run(async () => {
      if (raw.destroyed) throw new ClientGoneError();
      const result = await read();
      if (raw.destroyed) throw new ClientGoneError();
      return result;
    });
  }
}

/** Thrown instead of working for a client that has closed its connection. */
class ClientGoneError extends Error {
  override name = "ClientGoneError";
  /** The code of Node for a stream that was closed early: the server then sends and logs nothing. */
  readonly code = "ERR_STREAM_PREMATURE_CLOSE";
}
