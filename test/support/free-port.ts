import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { waitFor } from "./wait-for.ts";

/**
 * A port on which nothing listens, below those that systems give to outgoing connections, which could take it while
 * the server restarts.
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
