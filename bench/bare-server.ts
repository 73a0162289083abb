/**
 * The minimum cost of a server of these responses: bare `node:http` with the headers of every response of the service
 * and a body of the same length. `node bench/bare-server.ts` prints its URL. A path has the length of the body in bytes
 * and a number that identifies the body: `/992/7`.
 */
import { createServer } from "node:http";

const headers = {
  "strict-transport-security": "max-age=63072000; includeSubDomains",
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cache-control": "private, max-age=1",
  vary: "Accept-Encoding",
  "x-request-id": "00000000-0000-4000-8000-000000000000",
  "x-ratelimit-limit": 1000,
  "x-ratelimit-remaining": 999,
  "x-ratelimit-reset": 60,
  "content-type": "application/json; charset=utf-8",
};
const texts = new Map<string, string | Buffer>();

const server = createServer(({ url = "" }, response) => {
  const body = texts.get(url) ?? getBody(url);
  response.writeHead(200, { ...headers, "content-length": body.length });
  response.end(body);
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  process.stdout.write(`http://127.0.0.1:${address.port}\n`);
});

function getBody(path: string): string | Buffer {
  const text = "x".repeat(Number(path.split("/")[1]));
  const body = text.length > 8192 ? Buffer.from(text) : text;
  texts.set(path, body);
  return body;
}
