/** Changed responses that can be built immediately, without their handler. Clients must see no difference. */
import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { Type } from "typebox";
import { toObjectShape } from "../../src/api/route/list-answer.ts";
import { defineRoute } from "../../src/api/route/route.ts";
import { assertEveryHeader, openTestServer, testFreshness } from "../support/open-test-server.ts";

/** The content of the response. */
let change = 0;
let handled = 0;
let bodyNow: () => { data: { change: number } } | null = () => null;

const route = defineRoute({
  path: "/v1/changes",
  access: "read",
  summary: "Changes",
  response: toObjectShape(Type.Object({ change: Type.Integer() })),
  cacheControl: "private, max-age=1",
  getCachePolicy: () => ({
    watch: () => {
      const before = change;
      return () => change === before;
    },
    bodyNow: () => bodyNow(),
  }),
  handler: () => {
    handled += 1;
    return { data: { change } };
  },
});
const server = await openTestServer({ routes: [route] });
after(() => server.close());
beforeEach(async () => {
  change += 1;
  await ask("first");
  handled = 0;
});

async function ask(id: string) {
  const headers = { "x-request-id": id };
  return server.request("GET", "/v1/changes", { key: server.keys.read, headers });
}

test("200: a changed response is built without the handler and sent from then on", async () => {
  bodyNow = () => ({ data: { change } });
  for (const id of ["changed", "again"]) {
    if (id === "changed") change += 1;
    const answer = await ask(id);
    assert.equal(answer.status, 200);
    assertEveryHeader(answer.headers);
    assert.deepEqual(answer.body, { data: { change }, meta: { request_id: id, ...testFreshness } });
  }
  assert.equal(handled, 0);
});

test("200: the handler answers if the response cannot be built immediately or building it fails", async () => {
  const failing = () => {
    throw new Error("a fault of ours");
  };
  for (const now of [() => null, failing]) {
    bodyNow = now;
    const { remaining } = assertEveryHeader((await ask("before")).headers);
    change += 1;
    const answer = await ask("changed");
    assert.deepEqual(answer.body["data"], { change });
    assert.equal(assertEveryHeader(answer.headers).remaining, remaining - 1, "counted once");
  }
  assert.equal(handled, 2);
});

test("401: nothing is built for a client without a key", async () => {
  let made = 0;
  bodyNow = () => {
    made += 1;
    return { data: { change } };
  };
  change += 1;
  const answer = await server.request("GET", "/v1/changes");
  assert.equal(answer.status, 401);
  assertEveryHeader(answer.headers);
  assert.equal(made + handled, 0);
});
