/** A recording of generation 1: the responses of the service equal what happened, with 0 differences. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { hang, rangeCap } from "../support/faults.ts";
import { assertRecordedTruth } from "../support/recorded/assert-recorded-truth.ts";
import { readRecording } from "../support/recorded/recording.ts";
import { serveRecording } from "../support/recorded/serve-recording.ts";
import { requestedRange } from "../support/scripted-answers.ts";

const recording = readRecording("contracts-a");

test("responses equal the recording if the node allows ranges of one block", async (t) => {
  const stage = await serveRecording(t, recording);
  stage.node.fault(rangeCap(1, "quicknode"));
  const service = await stage.startService();
  await service.waitFinalized(stage.head);
  await service.waitReady();
  await assertRecordedTruth(service, recording);
  assert.equal(await service.stop(), 0);
});

test("R10: responses equal the recording after kill -9 during a backfill", async (t) => {
  const stage = await serveRecording(t, recording);
  let answered = 0;
  stage.node.fault(rangeCap(3, "alchemy"));
  // Requests for blocks above `answered` are still open when the service is killed.
  stage.node.fault((request, chain) => {
    const range = requestedRange(request, chain);
    return range !== null && range.to > answered ? hang : null;
  });
  // Ranges fetched in parallel arrive complete, so fewer blocks are indexed than were answered.
  for (const indexed of [400, 1400]) {
    answered = indexed + 600;
    const service = await stage.startService();
    await service.waitIndexed(indexed);
    await service.kill9();
  }
  answered = stage.head;
  const service = await stage.startService();
  await service.waitFinalized(stage.head);
  await assertRecordedTruth(service, recording);
});
