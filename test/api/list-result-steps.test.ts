import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { LocatedEvent } from "../../src/market/block-facts.ts";
import { DataServer, type Row } from "../support/open-data-server.ts";
import { assertError } from "../support/open-test-server.ts";

const server = await DataServer.open({ finalBlocks: 2000, unfinalizedBlocks: 1026 });
after(() => server.close());
const markets = await server.getAll("/v1/markets?limit=100");
const events = server.facts.flatMap((block) => block.events);

async function getSteps(market: Row, query = ""): Promise<readonly Row[]> {
  return server.getAll(`/v1/markets/${String(market["id"])}/resolution?limit=3${query}`);
}

/** The oracle's question of a market: its own, or the request that answers its neg-risk question. */
function getQuestion(market: Row): unknown {
  const requested = events.find(
    ({ event }) =>
      event.kind === "neg_risk_question_requested" && event.questionId === market["question_id"],
  );
  return requested?.event.kind === "neg_risk_question_requested"
    ? requested.event.requestId
    : market["question_id"];
}

function getOracleSteps(questionId: unknown): readonly LocatedEvent[] {
  return events.filter(
    ({ event }) => event.kind === "oracle_step" && event.questionId === questionId,
  );
}

test("200: every step of the oracle of each market, and its result, in the order of the chain", async () => {
  let count = 0;
  for (const market of markets) {
    const steps = await getSteps(market);
    const isReport = (step: Row) =>
      step["kind"] === "reported" || step["kind"] === "mirror_resolved";
    const expected = getOracleSteps(getQuestion(market));
    count += expected.length;
    const found = steps.filter((step) => !isReport(step) && expected.length > 0);
    assert.deepEqual(
      found.map((step) => step["seq"]),
      expected.map(({ seq }) => seq),
    );
    const resolution = market["resolution"] as Row | null;
    const reported = steps.filter(isReport).map((step) => [step["seq"], step["payouts"]]);
    if (resolution === null) assert.deepEqual(reported, []);
    else assert.deepEqual(reported[0], [resolution["seq"], resolution["payouts"]]);
    const seqs = steps.map((step) => Number(step["seq"]));
    assert.deepEqual(
      seqs,
      seqs.toSorted((a, b) => a - b),
    );
  }
  assert(count > 40, `${count} steps`);
});

test("200: a disputed proposal is asked again; who did it, at what price, and the bond", async () => {
  const disputed = events.find(
    ({ event }) => event.kind === "oracle_step" && event.step === "disputed",
  );
  assert(disputed?.event.kind === "oracle_step");
  const { questionId } = disputed.event;
  const market = markets.find((row) => getQuestion(row) === questionId);
  assert(market !== undefined);
  const steps = await getSteps(market);
  const kinds = steps.map((step) => step["kind"]);
  assert.deepEqual(kinds.slice(0, 2), ["requested", "proposed"]);
  assert.deepEqual(new Set(kinds.slice(2, 5)), new Set(["disputed", "requested", "reset"]));
  assert.deepEqual(new Set(kinds.slice(-2)), new Set(["reported", "settled"]));
  const initialized = events.find(
    ({ event }) => event.kind === "question_initialized" && event.questionId === questionId,
  );
  assert(initialized?.event.kind === "question_initialized");
  assert.equal(steps[0]?.["account"], initialized.event.creator);
  assert.equal(Number(steps[1]?.["bond"]) * 1e6, Number(initialized.event.bond));
  const proposals = steps.filter((step) => step["kind"] === "proposed");
  assert(proposals.every((step) => ["0", "0.5", "1"].includes(String(step["price"]))));
  assert(proposals.every((step) => /^0x[0-9a-f]{40}$/.test(String(step["account"]))));
});

test("200: a file has the same steps as the pages, and a market without steps has none", async () => {
  for (const market of markets.slice(0, 20)) {
    const path = `/v1/markets/${String(market["id"])}/resolution?format=ndjson`;
    const lines = (await server.get(path)).text.split("\n").filter((line) => line !== "");
    assert.deepEqual(
      lines.map((line) => JSON.parse(line) as Row),
      await getSteps(market),
    );
  }
});

test("404: an unknown market", async () => {
  assertError(await server.get("/v1/markets/nothing-like-it/resolution"), "NOT_FOUND");
});
