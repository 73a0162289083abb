import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { cleanUp } from "./clean-up.ts";

/** A response: an object as JSON, or a text as it is. */
export type Scripted = {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body: unknown;
};

/** Answers with one script after the other, then repeats the last one. Records the requests. */
export async function serveScripts(
  t: TestContext,
  scripts: readonly Scripted[],
): Promise<{ readonly url: string; readonly requests: string[] }> {
  const requests: string[] = [];
  const listener: RequestListener = (request, response) => {
    const script = scripts[Math.min(requests.length, scripts.length - 1)];
    requests.push(`${request.method} ${request.url}`);
    const { status = 500, headers = {}, body } = script ?? {};
    const text = typeof body === "string" ? body : JSON.stringify(body);
    response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(text);
  };
  const server = createServer(listener).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  cleanUp(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}
