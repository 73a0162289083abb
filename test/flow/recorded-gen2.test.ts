/** Generations 1 and 2 side by side, as recorded. */
import { test } from "node:test";
import { buildBlocks } from "../support/build-blocks.ts";
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

test("answers equal the recording when it is followed above finality, through forks", async (t) => {
  const { node, head, startService } = await serveRecording(t, recording);
  const [step, depth] = [150, 5];
  node.setFinalized({ behindHead: step + depth });
  let shown = 400;
  node.setHead(shown);
  const service = await startService([node.wsUrl]);
  await service.waitIndexed(shown);
  while (shown < head) {
    // The same logs in blocks that are then reverted: other hashes, other transactions.
    const rival = recording.blocks.slice(shown + 1, shown + 1 + depth);
    node.fork(buildBlocks(rival, { after: recording.blocks[shown], salt: "rival" }));
    await service.waitIndexed(node.head);
    const next = Math.min(shown + step, head);
    node.fork(recording.blocks.slice(shown + 1, next + 1));
    await service.waitIndexed(next);
    shown = next;
  }
  node.setFinalized({ behindHead: 0 });
  await service.waitFinalized(head);
  await assertRecordedTruth(service, recording);
});
