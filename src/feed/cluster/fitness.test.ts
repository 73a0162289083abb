import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChainWarning } from "../../chain/rpc/chain-warning.ts";
import { Fitness } from "./fitness.ts";

/** An indexer whose state a test sets, with a clock that a test moves. */
function openIndexer() {
  let nowMs = 0;
  const state = {
    isFollowing: true,
    head: 100,
    roseMs: 0,
    warnings: [] as ChainWarning[],
    storeProblem: null as string | null,
  };
  const fitness = new Fitness({
    clock: { monotonicMs: () => nowMs },
    checkChain: () => ({ ok: state.isFollowing, detail: "" }),
    readHead: () => ({ number: state.head, timestamp: 0, ageMs: nowMs - state.roseMs }),
    readWarnings: () => state.warnings,
    readStoreProblem: () => state.storeProblem,
  });
  /** Lets seconds pass, in each of which a new block comes if `isGrowing`. Returns the last result of `ask`. */
  const pass = (
    seconds: number,
    isGrowing: boolean,
    ask: () => boolean = () => fitness.isFit(),
  ) => {
    let answer = ask();
    for (let second = 0; second < seconds; second += 1) {
      nowMs += 1_000;
      if (isGrowing) {
        state.head += 1;
        state.roseMs = nowMs;
      }
      answer = ask();
    }
    return answer;
  };
  return { fitness, state, pass };
}

test("an indexer is unfit 10 s after its last new block, until the next one", () => {
  const { pass } = openIndexer();
  assert.equal(pass(60, true), true);
  assert.equal(pass(10, false), true);
  assert.equal(pass(1, false), false);
  assert.equal(pass(1, true), true);
});

test("an indexer is unfit after its check of the chain has failed for 10 s, whatever the head does", () => {
  const { state, pass } = openIndexer();
  state.isFollowing = false;
  assert.equal(pass(10, true), true);
  assert.equal(pass(1, true), false);
  state.isFollowing = true;
  assert.equal(pass(1, true), true);
  state.isFollowing = false;
  assert.equal(pass(10, true), true, "the time counts from the new failure");
});

test("an indexer is unfit after a minute without new final blocks, or with a store that refuses rows", () => {
  const warnings = ["finality_disputed", "majority_absent", "head_buffer_full", "history_disputed"];
  const faults = [
    ...warnings.map((warning) => ({ warnings: [warning as ChainWarning] })),
    { storeProblem: "the table is read-only" },
  ];
  for (const fault of faults) {
    const { state, pass } = openIndexer();
    Object.assign(state, fault);
    assert.equal(pass(60, true), true);
    assert.equal(pass(1, true), false);
    Object.assign(state, { warnings: [], storeProblem: null });
    assert.equal(pass(1, true), true);
  }
});

test("an indexer replaces an unfit one once it has seen new blocks for longer than a renewal takes", () => {
  const { fitness, pass } = openIndexer();
  const replaces = (isOtherUnfit: boolean) => () => fitness.canReplace(isOtherUnfit);
  assert.equal(pass(60, true, replaces(false)), false, "the other is fit");
  assert.equal(pass(9, false, replaces(true)), false, "the chain may stand still");
  assert.equal(pass(3, true, replaces(true)), false);
  assert.equal(pass(1, true, replaces(true)), true);
  assert.equal(pass(1, true, replaces(false)), false, "the other has recovered");
  assert.equal(pass(3, true, replaces(true)), false, "it starts again");
});

test("an unfit indexer replaces no other", () => {
  const faults = [
    { isFollowing: false },
    { warnings: ["finality_disputed" as const] },
    { storeProblem: "the table is read-only" },
  ];
  for (const fault of faults) {
    const { fitness, state, pass } = openIndexer();
    Object.assign(state, fault);
    assert.equal(
      pass(60, true, () => fitness.canReplace(true)),
      false,
    );
  }
});
