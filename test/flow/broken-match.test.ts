/** R4, R8: the service notices that a node omits a leg or a summary of a match before it stores the match. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { on } from "../support/faults.ts";
import { assertRecordedTruth } from "../support/recorded/assert-recorded-truth.ts";
import { placeMatches, placeTrades } from "../support/recorded/place-logs.ts";
import { readRecording } from "../support/recorded/recording.ts";
import { serveRecording } from "../support/recorded/serve-recording.ts";
import type { RpcLog } from "../support/scripted-block.ts";

const recording = readRecording("contracts-a");
const getPlace = (log: RpcLog): string => `${log.blockNumber} ${log.logIndex}`;
const noAudit = { ODDWIRE_AUDIT_CALLS_PER_MINUTE: "0" };

test("legs, summaries and matches that the only node omits from its logs are read from its receipts", async (t) => {
  const stage = await serveRecording(t, recording);
  const matches = placeMatches(recording, placeTrades(recording));
  const hidden = new Set(
    matches.map(({ legs, summary, log }, index) => {
      return getPlace([legs[0]?.log ?? summary, summary, log][index % 3] ?? log);
    }),
  );
  assert(hidden.size > 20, "some logs are left out");
  stage.node.fault(
    on("eth_getLogs", () => ({
      kind: "logs",
      change: (logs) => logs.filter((log) => !hidden.has(getPlace(log))),
    })),
  );
  const service = await stage.startService([stage.node.url], noAudit);
  await service.waitFinalized(stage.head);
  await assertRecordedTruth(service, recording);
  const { indexer } = await service.get<{ indexer: { match_anomalies: Record<string, number> } }>(
    "/v1/metrics",
  );
  // Two matches of the chain really differ from their summary, as their receipts confirm.
  assert.deepEqual(indexer.match_anomalies, { legs_differ_from_summary: 2 });
});
