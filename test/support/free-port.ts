import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { waitFor } from "./wait-for.ts";

/**
 * Returns a port on which nothing listens. It is below the range that systems use for outgoing connections, which could
 * take the port while the server restarts.
 */
export async function findFreePort(): Promise<number> {
  return waitFor("a free port", async () => {
    const port = randomInt(10_000, 30_000);
    return (await isFree(port)) ? port : null;
  });
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  probe.once("error", () => resolve(false));
  probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  return promise;
}
