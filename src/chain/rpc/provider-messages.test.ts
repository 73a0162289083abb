import assert from "node:assert/strict";
import { test } from "node:test";
import { classifyProviderError, ProviderError, type ProviderVerdict } from "./provider-messages.ts";

function classify(message: string, code = -32_000): ProviderVerdict {
  return classifyProviderError(code, message);
}

/** Messages of providers, and the number of blocks that they allow. */
const caps: Record<string, number> = {
  "requested too many blocks from 1 to 90000, maximum is set to 2048": 2_048,
  "block range is too large. Max range: 800": 800,
  "Maximum allowed number of requested blocks is 10000": 10_000,
  "eth_getLogs is limited to a 10,000 range": 10_000,
  "eth_getLogs is limited to 1024 block range. Please check the parameter": 1_024,
  "You can make eth_getLogs requests with up to a 500 block range.": 500,
  "You can make eth_getLogs requests with up to a 2K block range.": 2_000,
  "query exceeds the range allowed for your plan (9999 > 500)": 500,
  "please limit the query to at most 1000 blocks": 1_000,
  "exceed maximum block range: 50000": 50_000,
  "query exceeds max block range 1000": 1_000,
  "exceed max block range: 3000": 3_000,
  "Block range is too large, max is 1k blocks": 1_000,
  "query must be smaller than size 1024": 1_024,
  "range 20000 exceeds limit of 10000": 10_000,
  "ranges over 10000 blocks are not supported on freetier": 10_000,
  "block range is too wide": 3_000,
  "eth_getLogs is limited to 0 - 50 blocks range": 50,
  "eth_getLogs is limited to a 5 range, upgrade from free plan to increase limit": 5,
  "Invalid params: requested block range 16777217 exceeds the limit of 200; narrow it": 200,
  "block range greater than 10000 max": 10_000,
  "query exceeds range, retry smaller (max block range 5000, got 16777216)": 5_000,
  "block range too large (2000), maximum allowed is 1000 blocks": 1_000,
  "too wide blocks range, the limit is 100": 100,
  "maximum [from, to] blocks distance: 2000": 2_000,
  'block range too big: {"details":{"maxAllowedRange":500}}': 500,
};

for (const [message, capBlocks] of Object.entries(caps)) {
  test(`R5: "${message}" allows ${capBlocks} blocks`, () => {
    const verdict = classify(message);
    assert(verdict.kind === "too_large");
    assert.equal(verdict.capBlocks, capBlocks);
  });
}

/** Messages with which nodes refuse a batch, and the number of calls they allow; `null` when they name none. */
const batches: Record<string, number | null> = {
  "batch limit 100 exceeded: 142 requests given": 100,
  "batch limit 1000 exceeded (can increase by --rpc.batch.limit). Requested batch of size: 1062": 1_000,
  "Batch of more than 3 requests are not allowed on free tier": 3,
  "batch size exceeded, maximum is 10": 10,
  "batch too large": null,
  "Batch size limit exceeded": null,
  "Number of requests in batch exceeds --rpc-max-batch-size.": null,
  "batch requests are not supported": null,
  "JSON-RPC batching is disabled": null,
  "batch limit exceeded": null,
  'Too many ["eth_getLogs"] methods in the batch': null,
  "too many requests in batch, max 1": null,
};

for (const [message, callsMax] of Object.entries(batches)) {
  test(`R6: "${message}" allows ${callsMax ?? "fewer"} calls`, () => {
    assert.deepEqual(classify(message), { kind: "batch_too_large", callsMax });
  });
}

test("R5: messages about too many results have no cap", () => {
  for (const message of [
    "query returned more than 10000 results. Try with this block range [0x10, 0x2f].",
    "Log response size exceeded. Based on your parameters, this block range should work: [0x10, 0x2f]",
    "Log response size exceeded: up to a 2K block range and no limit on the response size, or any block range",
    "query exceeds max results 20000, retry with the range 16-47",
    'limit exceeded: {"from":"0x10","limit":10000,"to":"0x2f"}',
    "query returned more than 10000 results",
    "query exceeds max results 20000",
    "requested range too large",
    "query returned more than allowed number of logs, try with smaller block range",
    "HTTP 413 Request Entity Too Large",
    "backend response too large",
    "logs matched by query exceeds limit of 10000",
    "response size should not greater than 10000000 bytes",
    "block range too large",
    "Block range limit exceeded. See more details at https://docs.example.invalid",
    "response is too big",
  ]) {
    assert.deepEqual(classify(message), { kind: "too_large", capBlocks: null }, message);
  }
});

test("R6: errors that are not about size are classified by their cause", () => {
  assert.equal(classify("no backend is currently healthy to serve traffic").kind, "unhealthy");
  assert.equal(classify("block range extends beyond current head block").kind, "not_yet");
  assert.equal(classify("unknown block").kind, "not_yet");
  assert.equal(classify("8633830 could not be found").kind, "not_yet");
  assert.equal(classify("invalid block range params").kind, "not_yet");
  assert.equal(classify("pruned history unavailable").kind, "not_yet");
  assert.equal(classify("Archive requests require a personal token").kind, "not_yet");
  assert.equal(classify("request timed out", -32_002).kind, "too_slow");
  assert.equal(classify("query timeout exceeded", -32_005).kind, "too_slow");
  assert.equal(classify("Too Many Requests", 429).kind, "rate_limited");
  assert.equal(classify("whatever", 429).kind, "rate_limited");
  assert.equal(classify("limit exceeded, call rate limit exhausted", -32_005).kind, "rate_limited");
  assert.equal(classify("the method eth_x does not exist/is not available").kind, "unsupported");
  assert.equal(classify("nope", -32_601).kind, "unsupported");
  assert.equal(classify("internal error").kind, "unknown");
  assert.equal(classify("").kind, "unknown");
});

test("R6: a limit on requests is not mistaken for one on blocks, in any wording", () => {
  for (const message of [
    "daily request limit reached",
    "credits limited to 6000/sec",
    "your plan is limited to 25 requests per second",
    "project ID request rate exceeded",
    "You've reached the usage limit for your current plan.",
    "You've exceeded the RPS limit available on the current plan.",
    "Monthly capacity limit exceeded.",
    "Your app has exceeded its compute units per second capacity",
    "over rate limit",
  ]) {
    assert.equal(classify(message).kind, "rate_limited", message);
  }
});

test("a JSON-RPC error becomes an EndpointError of the matching kind", () => {
  const getKind = (message: string) => new ProviderError(1, message).kind;
  assert.equal(getKind("rate limit"), "rate_limited");
  assert.equal(getKind("unknown block"), "not_yet");
  assert.equal(getKind("no backend is currently healthy"), "unavailable");
  assert.equal(getKind("request timed out"), "unavailable");
  assert.equal(getKind("surprise"), "refused");
  assert.equal(new ProviderError(1, "surprise").message, "error 1: surprise");
});
