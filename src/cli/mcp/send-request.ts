import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { RequestToSend, ServiceResponse } from "../../../clients/typescript/src/connection.ts";

/**
 * Sends a request and reads the whole answer, in place of `fetch`. That takes 0.2 ms longer, and an agent waits for
 * every call. Connections stay open. Redirects are not followed: they could carry the key to another server.
 */
export async function sendRequest(
  url: URL,
  { body, ...options }: RequestToSend,
): Promise<ServiceResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  const request = send(url, options, resolve);
  request.on("error", reject);
  request.end(body);
  const answer = await promise;
  const { statusCode: status = 0, headers } = answer;
  const content = await readText(answer);
  return {
    ok: status >= 200 && status < 300,
    status,
    url: url.href,
    headers: { get: (name) => headers[name.toLowerCase()]?.toString() ?? null },
    body: null,
    text: async () => content,
  };
}

async function readText(answer: IncomingMessage): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = "";
  answer.setEncoding("utf8");
  answer.on("data", (part: string) => (text += part));
  answer.on("end", () => resolve(text));
  answer.on("error", reject);
  return promise;
}
