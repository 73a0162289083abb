/** Equal requests at the same time share one response. None gets an outdated one. */
import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { Type } from "typebox";
import { toObjectShape } from "../../src/api/route/list-answer.ts";
import { defineRoute } from "../../src/api/route/route.ts";
import { AppError } from "../../src/base/errors.ts";
import {
  assertError,
  assertEveryHeader,
  openTestServer,
  testFreshness,
} from "../support/open-test-server.ts";

/** The content of the response. The handler reads it when it begins, before it is released. */
let change = 0;
let begun: PromiseWithResolvers<void>[] = [];
let onBegun = () => {};

const route = defineRoute({
  path: "/v1/slow",
  access: "read",
  summary: "Slow",
  response: toObjectShape(Type.Object({ change: Type.Integer() })),
  cacheControl: "private, max-age=1",
  getCachePolicy: () => ({
    watch: () => {
      const before = change;
      return () => change === before;
    },
  }),
  isTagged: () => true,
  handler: async () => {
    const gate = Promise.withResolvers<void>();
    const read = change;
    begun.push(gate);
    onBegun();
    await gate.promise;
    return { data: { change: read } };
  },
});
let fresh = testFreshness;
const server = await openTestServer({ routes: [route], freshness: () => fresh });
after(() => server.close());
beforeEach(() => {
  change += 1;
  begun = [];
});

async function ask(id: string) {
  const headers = { "x-request-id": id };
  return server.request("GET", "/v1/slow", { key: server.keys.read, headers });
}

/** Resolves once the handler has begun `count` times. */
async function made(count: number): Promise<void> {
  while (begun.length < count) {
    await new Promise<void>((resolve) => {
      onBegun = resolve;
    });
  }
}

/** Resolves once all requests that were sent before have certainly arrived. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await server.request("GET", "/v1/health", {});
}

test("200: the response is built once for all simultaneous requests, each with its own request id and freshness", async () => {
  const first = ask("first");
  await made(1);
  const freshAtFirst = fresh;
  // A block that the answer does not depend on.
  fresh = { ...fresh, indexed_block: fresh.indexed_block + 1 };
  const others = Array.from({ length: 5 }, (_, index) => ask(`other-${index}`));
  await settled();
  begun[0]?.resolve();
  const answers = await Promise.all([first, ...others]);
  assert.equal(begun.length, 1);
  for (const [index, answer] of answers.entries()) {
    const id = index === 0 ? "first" : `other-${index - 1}`;
    assert.equal(answer.status, 200);
    const meta = { request_id: id, ...(index === 0 ? freshAtFirst : fresh) };
    assert.deepEqual(answer.body, { data: { change }, meta });
    assertEveryHeader(answer.headers);
    assert.equal(answer.headers.get("x-request-id"), id);
    for (const name of ["etag", "cache-control", "content-type"])
      assert.equal(answer.headers.get(name), answers[0]?.headers.get(name));
  }
});

test("200: a request after a change gets no older response", async () => {
  const first = ask("first");
  await made(1);
  change += 1;
  const second = ask("second");
  await made(2);
  begun[0]?.resolve();
  assert.deepEqual((await first).body["data"], { change: change - 1 });
  const third = ask("third");
  await settled();
  begun[1]?.resolve();
  for (const answer of await Promise.all([second, third]))
    assert.deepEqual(answer.body["data"], { change });
  assert.equal(begun.length, 2);
});

test("503: for the failed request only; a waiting request runs the handler again", async () => {
  const first = ask("first");
  await made(1);
  const second = ask("second");
  await settled();
  begun[0]?.reject(new AppError("SERVICE_UNAVAILABLE"));
  assertError(await first, "SERVICE_UNAVAILABLE");
  await made(2);
  begun[1]?.resolve();
  assert.equal((await second).status, 200);
});
