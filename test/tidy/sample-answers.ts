/**
 * Prints `src/api/docs/sample-answers.json`: a response of each operation of the API, from a service with a recorded
 * chain. Run it when the shape of a response changes. A test checks each response against its schema.
 */
import assert from "node:assert/strict";
import type { ConditionId } from "../../src/base/ids.ts";
import { ApiContract, type Endpoint } from "../support/api-contract.ts";
import { noMetadata } from "../support/no-metadata.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";

const server = await DataServer.open();
const { edge } = server;
try {
  const [market] = (await server.getPage("/v1/markets?search=oslo&limit=1")).data;
  server.state.applyMetadata(market?.["id"] as ConditionId, {
    ...noMetadata,
    category: "Weather",
    tags: ["Weather", "Oslo"],
  });
  const trades = `/v1/trades?condition_id=${String(market?.["id"])}&limit=1`;
  const [trade = {}] = (await server.getPage(trades)).data;
  const [event = {}] = (await server.getPage("/v1/events?limit=1")).data;
  const samples: Record<string, unknown> = {};
  for (const endpoint of (await ApiContract.read(server)).endpoints) {
    const { operationId } = endpoint;
    if (operationId === "getOpenapi" || takeSample(endpoint) === null) continue;
    samples[operationId] = await ask(endpoint, { trade, event });
  }
  process.stdout.write(`${JSON.stringify(samples, null, 2)}\n`);
} finally {
  await server.close();
}

/** The JSON content of a successful response, or `null` if it has none. */
function takeSample({ responses }: Endpoint) {
  return (responses[200] ?? responses[201])?.content["application/json"] ?? null;
}

async function ask(
  { method, path, parameters, requestBody }: Endpoint,
  { trade, event }: { readonly trade: Row; readonly event: Row },
): Promise<unknown> {
  const ip = "198.51.100.7";
  const params: Record<string, unknown> = {
    ...trade,
    id: path.startsWith("/v1/events/") ? event["id"] : trade["condition_id"],
    order_hash: trade["maker_order_hash"],
    address: trade["maker"],
    ip,
  };
  if (path.startsWith("/v1/keys/")) params["id"] = await makeKey(`${method} ${path}`);
  if (path.startsWith("/v1/ip-blocks"))
    edge.access.ipBlocks.put({
      bucket: ip,
      reason: "abuse",
      offenses: 1,
      blockedAtMs: edge.clock.nowMs(),
      blockedUntilMs: edge.clock.nowMs() + 900_000,
    });
  const query = parameters.flatMap(({ in: place, name }) => {
    if (place !== "query") return [];
    if (name === "limit") return ["limit=1"];
    if (name === "condition_id") return [`condition_id=${String(trade["condition_id"])}`];
    return name === "token_ids" ? [`token_ids=${String(trade["token_id"])}`] : [];
  });
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(params[name]));
  const answer = await edge.request(method, `${filled}?${query.join("&")}`, {
    key: edge.keys.admin,
    headers: { "x-request-id": "trace-1" },
    ...(requestBody === undefined
      ? {}
      : { json: path === "/v1/keys" ? { name: "my script" } : {} }),
  });
  assert(answer.status < 300, `${method} ${filled}: ${answer.text}`);
  return shortened(answer.body);
}

/** Shortens lists to their first two rows, so that a sample fits on a page. */
function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 2).map(shortened);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortened(inner)]));
}

async function makeKey(name: string): Promise<string> {
  const input = { name, scope: "read", expiresAtMs: null, allowedIps: [] } as const;
  return (await edge.access.keys.create(input)).key.id;
}
