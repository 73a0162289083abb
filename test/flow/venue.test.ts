/** The service with a venue: it serves books while the venue is up, and everything else in any case. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Metrics } from "../../src/api/metrics/metrics-schema.ts";
import { cleanUp } from "../support/clean-up.ts";
import { readRecording } from "../support/recorded/recording.ts";
import { serveRecording } from "../support/recorded/serve-recording.ts";
import { ScriptedVenue } from "../support/scripted-venue.ts";
import { waitFor } from "../support/wait-for.ts";

const recording = readRecording("contracts-a");

test("books come from the venue; while the venue is down they are stale and the service is ready", async (t) => {
  const stage = await serveRecording(t, recording);
  const venue = await ScriptedVenue.open({ hasEveryBook: true });
  cleanUp(t, () => venue.close());
  const service = await stage.startService([stage.node.url], venue.settings);
  await service.waitFinalized(stage.head);
  const token = String(
    (await service.get<{ data: { token_id: string }[] }>("/v1/trades")).data[0]?.token_id,
  );
  venue.book(token).set("BUY", "0.4", "12.5");

  type Book = { data: { bids: unknown[]; stale: boolean; stale_reason: string | null } };
  const read = async () => (await service.get<Book>(`/v1/orderbook/${token}`)).data;
  const { bids, stale } = await read();
  assert.deepEqual([bids, stale], [[{ price: "0.4", size: "12.5" }], false]);

  venue.httpFault = () => ({ status: 503, body: "<html>" });
  venue.isSilent = true;
  venue.dropSockets();
  const reason = await waitFor("the mismatch", async () => (await read()).stale_reason);
  assert.equal(reason, "not_followed");
  assert.deepEqual((await read()).bids, bids);
  assert.equal((await service.request("/v1/ready")).status, 200);

  const { books } = await service.get<Metrics>("/v1/metrics");
  assert.deepEqual([books?.in_memory, books?.stale, books?.resyncs], [1, 1, { not_followed: 1 }]);
  assert.match(
    await service.getText("/v1/metrics/prometheus"),
    /^oddwire_orderbooks_in_memory 1$/m,
  );
  venue.httpFault = null;
  venue.isSilent = false;
  venue.dropSockets();
  await waitFor("the book", async () => ((await read()).stale ? null : true));
  assert.equal(await service.stop(), 0);
});
