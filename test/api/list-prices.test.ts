import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DataServer } from "../support/open-data-server.ts";
import { assertError, getData, toRows } from "../support/open-test-server.ts";

const server = await DataServer.open();
after(() => server.close());

const path = "/v1/price";
const trades = await server.getAll("/v1/trades?limit=1000");
const traded = [...new Set(trades.map((row) => String(row["token_id"])))];

test("200: each price equals that of a single request, in the requested order", async () => {
  const ids = [...traded, ...traded.slice(0, 1)];
  const answer = await server.get(`${path}?token_ids=${ids.join(",")}`);
  assert.equal(answer.status, 200);
  const alone = await Promise.all(
    ids.map(async (id) => getData(await server.get(`${path}/${id}`))),
  );
  assert.deepEqual(toRows(answer), alone);
  assert.deepEqual(answer.body["not_found"], []);
  const pagination = { limit: 100, has_more: false, next_cursor: null };
  assert.deepEqual(answer.body["pagination"], pagination);
});

test("200: tokens never seen are listed in not_found", async () => {
  const [id = ""] = traded;
  const answer = await server.get(`${path}?token_ids=1,${id},02`);
  assert.deepEqual(
    toRows(answer).map((row) => row["token_id"]),
    [id],
  );
  assert.deepEqual(answer.body["not_found"], ["1", "2"]);
});

test("200: a hundred prices in one request", async () => {
  const ids = Array.from({ length: 100 }, (_, index) => traded[index % traded.length]);
  const answer = await server.get(`${path}?token_ids=${ids.join(",")}`);
  assert.equal(toRows(answer).length, 100);
});

test("400: no token id, too many token ids, and an invalid one", async () => {
  const named = "or a slug or condition id with an outcome, such as who-wins:yes";
  const expected = `a list of 1 to 100, each a decimal token id below 2^256, ${named}`;
  const tooMany = Array.from({ length: 101 }, () => "1").join(",");
  const refusals = {
    "": `token_ids is required: ${expected}`,
    "?token_ids=": `token_ids must be ${expected}; got ""`,
    "?token_ids=1,": `token_ids must be ${expected}; got "1,"`,
    "?token_ids=1,x": `token_ids must be ${expected}; got "x"`,
    [`?token_ids=${tooMany}`]: `token_ids must be ${expected}; got "${tooMany.slice(0, 63)}..."`,
    "?token_id=1":
      "token_id is not known here; did you mean token_ids? Valid names: token_ids, include_mirror, at, min_seq, fields",
    "?token_ids=1&token_ids=2": "token_ids is given more than once",
  };
  for (const [query, message] of Object.entries(refusals))
    assert.equal(assertError(await server.get(path + query), "VALIDATION_ERROR").message, message);
});
