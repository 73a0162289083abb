import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "../../base/errors.ts";
import { StoreDamagedError } from "../engine/store-errors.ts";
import { MissingRowsError } from "../recovery/recover.ts";
import { untilReplicated } from "./until-replicated.ts";

const ignore = (): void => {};

test("rows that stay missing end the wait with an error that says what to do", async () => {
  const work = async () => {
    throw new MissingRowsError("table fills holds 1 rows where 2 were written");
  };
  await assert.rejects(untilReplicated(work, { onWaiting: ignore, waitMsMax: 0 }), (thrown) => {
    assert(thrown instanceof AppError && thrown.cause instanceof Error);
    assert.match(
      thrown.cause.message,
      /^table fills holds 1 rows where 2 were written, still after 0 s: see what `oddwire cluster check` says/,
    );
    return thrown.code === "SERVICE_UNAVAILABLE";
  });
});

test("damage is thrown without a wait", async () => {
  const work = async () => {
    throw new StoreDamagedError("table fills holds 2 rows where 1 were written");
  };
  await assert.rejects(untilReplicated(work, { onWaiting: ignore }), StoreDamagedError);
});

test("an aborted signal ends the wait", async () => {
  const stop = new AbortController();
  const work = async () => {
    throw new MissingRowsError("one row is missing");
  };
  const waiting = untilReplicated(work, { onWaiting: () => stop.abort(), signal: stop.signal });
  await assert.rejects(waiting, { name: "AbortError" });
});

test("missing rows are logged once, and waited for until they are there", async () => {
  const reasons: string[] = [];
  let calls = 0;
  const work = async () => {
    calls += 1;
    if (calls < 3) throw new MissingRowsError("one row is missing");
    return "all";
  };
  const onWaiting = (reason: string) => reasons.push(reason);
  assert.equal(await untilReplicated(work, { onWaiting }), "all");
  assert.deepEqual(reasons, ["one row is missing: replicas may be behind"]);
});
