import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { buffer } from "node:stream/consumers";

/**
 * Sends a request and reads the whole answer, in place of `fetch`. That takes twice as long, and an agent waits for
 * every call. Connections stay open. Redirects are not followed: they could carry the key to another server.
 */
export async function sendRequest(url: URL, init: RequestInit): Promise<Response> {
  const { method = "GET", signal } = init;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  const options = { method, headers: Object.fromEntries(new Headers(init.headers)) };
  const request = send(url, signal ? { ...options, signal } : options, resolve);
  request.on("error", reject);
  request.end(init.body);
  const answer = await promise;
  const body = await buffer(answer);
  const status = answer.statusCode ?? 0;
  const headers = Object.entries(answer.headers).map(([name, value]) => [name, String(value)]);
  const hasBody = body.length > 0;
  return new Response(hasBody ? body : null, { status, headers: Object.fromEntries(headers) });
}
