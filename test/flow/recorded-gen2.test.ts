/** Generations 1 and 2 side by side, as recorded. */
import { test } from "node:test";
import { resultCap } from "../support/faults.ts";
import { assertRecordedTruth } from "../support/recorded/assert-recorded-truth.ts";
import { readRecording } from "../support/recorded/recording.ts";
import { serveRecording } from "../support/recorded/serve-recording.ts";

const recording = readRecording("contracts-gen2");

test("answers equal the recording when the node caps its results", async (t) => {
  const stage = await serveRecording(t, recording);
  stage.node.fault(resultCap(200, "infura"));
  const service = await stage.startService();
  await service.waitFinalized(stage.head);
  await assertRecordedTruth(service, recording);
});

test("answers equal the recording when it is followed block by block", async (t) => {
  const stage = await serveRecording(t, recording);
  stage.node.setHead(470);
  stage.node.setFinalized({ behindHead: 5 });
  const service = await stage.startService();
  for (let head = 470; head <= stage.head; head += 150) {
    stage.node.setHead(head);
    await service.waitIndexed(head);
  }
  stage.node.setHead(stage.head);
  stage.node.setFinalized({ behindHead: 0 });
  await service.waitFinalized(stage.head);
  await assertRecordedTruth(service, recording);
});
