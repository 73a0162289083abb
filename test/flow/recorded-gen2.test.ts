/** A recording in which generations 1 and 2 run side by side. */
import { test } from "node:test";
import { buildBlocks } from "../support/build-blocks.ts";
import { resultCap } from "../support/faults.ts";
import { assertRecordedTruth } from "../support/recorded/assert-recorded-truth.ts";
import { readRecording } from "../support/recorded/recording.ts";
import { serveRecording } from "../support/recorded/serve-recording.ts";

const recording = readRecording("contracts-gen2");

test("responses equal the recording if the node caps its results", async (t) => {
  const stage = await serveRecording(t, recording);
  stage.node.fault(resultCap(200, "infura"));
  const service = await stage.startService();
  await service.waitFinalized(stage.head);
  await assertRecordedTruth(service, recording);
});

test("R9: responses equal the recording if it is followed above finality, through reorgs", async (t) => {
  const { node, head, startService } = await serveRecording(t, recording);
  const [step, depth] = [150, 5];
  node.setFinalized({ behindHead: step + depth });
  let height = 400;
  node.setHead(height);
  const service = await startService([node.wsUrl]);
  await service.waitIndexed(height);
  while (height < head) {
    // The same logs in blocks with other hashes and transactions, which are then reverted.
    const rival = recording.blocks.slice(height + 1, height + 1 + depth);
    node.fork(buildBlocks(rival, { after: recording.blocks[height], salt: "rival" }));
    await service.waitIndexed(node.head);
    const next = Math.min(height + step, head);
    node.fork(recording.blocks.slice(height + 1, next + 1));
    await service.waitIndexed(next);
    height = next;
  }
  node.setFinalized({ behindHead: 0 });
  await service.waitFinalized(head);
  await assertRecordedTruth(service, recording);
});
