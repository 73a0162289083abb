/**
 * R15: clients that never read, next to as many that do. The frames that wait for them are bounded, they are
 * closed with their last position, and the others get every frame. `SLOW_CLIENTS` is the number of each.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { toSeq } from "../../src/base/ids.ts";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import { isTrade } from "../../src/market/fill.ts";
import { cleanUp } from "../support/clean-up.ts";
import { DataServer } from "../support/open-data-server.ts";
import { RawStreamClient } from "../support/raw-stream-client.ts";
import { waitFor } from "../support/wait-for.ts";

const clients = Number(process.env["SLOW_CLIENTS"] ?? 30);
const tradesPerBlock = 100;
/** The number of blocks. At 145 KB each, they exceed what the sockets of both sides hold. */
const blocks = 34;
/** The number of stalled clients that read again after the close, before the service drops their connections. */
const lateReaders = 5;
const mebibyte = 1024 * 1024;

const quotas = {
  connectionsPerKey: { read: 10_000, write: 10_000, admin: 10_000 },
  connectionsPerIp: 10_000,
  subscriptionsMax: 10,
};
const server = await DataServer.open({ finalBlocks: 300, unfinalizedBlocks: 300, quotas });
after(() => server.close());
const { edge, meter } = server;
const template = server.fills.filter(isTrade).slice(0, tradesPerBlock);
assert.equal(template.length, tradesPerBlock);

function nextBlock(): BlockFacts {
  const newest = server.store.headBuffer.newest;
  assert(newest !== null);
  const number = newest.number + 1;
  const fills = template.map((fill, index) => ({ ...fill, seq: toSeq(number, index) }));
  const nothing = { events: [], anomalies: [], quarantined: [] };
  return { ...newest, ...nothing, number, timestamp: newest.timestamp + 2, fills };
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/**
 * Returns the bytes in use after a garbage collection. Resident memory is of no use here: it varies by 100 MiB
 * with the garbage of the clients that read, which run in this process.
 */
function usedBytes(): number {
  collectGarbage();
  // The first collection can leave buffers that are counted as free only later.
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function openClients(): Promise<readonly RawStreamClient[]> {
  const opened: RawStreamClient[] = [];
  for (let index = 0; index < clients; index += 1) {
    // Each upgrade counts as a request toward the limit.
    edge.clock.advance(100);
    opened.push(await RawStreamClient.open(edge.url, edge.keys.admin, { type: "trades" }));
  }
  return opened;
}

test("R15: stalled clients are closed with their last position, and the others get every frame", async (t) => {
  const [healthy, stalled] = [await openClients(), await openClients()];
  cleanUp(t, () => {
    for (const client of [...healthy, ...stalled]) client.destroy();
  });
  const firstBlock = server.newestBlock + 1;
  const seqOfEvent = (index: number) =>
    toSeq(firstBlock + Math.floor(index / tradesPerBlock), index % tradesPerBlock);
  const bytesBefore = usedBytes();
  for (const client of stalled) client.stall();
  for (let reported = 1; reported <= blocks; reported += 1) {
    await server.hold(nextBlock());
    await waitFor(`block ${reported} at those that read`, async () =>
      healthy.every(({ events }) => events === reported * tradesPerBlock) ? true : null,
    );
  }
  const grown = usedBytes() - bytesBefore;
  t.diagnostic(`${Math.round(grown / mebibyte)} MiB more for ${clients} stalled clients`);
  // Frames are shared, so each waiting client costs only references.
  assert(grown < 64 * mebibyte + clients * (mebibyte / 16), `${grown} bytes more`);

  edge.clock.advance(31_000);
  await waitFor("the stalled to be closed", async () =>
    meter.slow_closes === clients ? true : null,
  );
  const late = stalled.slice(0, lateReaders);
  for (const client of stalled.slice(lateReaders)) client.destroy();
  await Promise.all(late.map(async (client) => client.readToEnd()));
  for (const { closed, events } of late) {
    assert.equal(closed?.code, 4002);
    const [, seq] = /last delivered seq ([0-9]+)$/.exec(closed.reason) ?? [];
    assert(events > 0 && events < blocks * tradesPerBlock);
    assert.equal(Number(seq), seqOfEvent(events - 1));
  }
  await server.hold(nextBlock());
  await waitFor("a block more", async () =>
    healthy.every(({ events }) => events === (blocks + 1) * tradesPerBlock) ? true : null,
  );
  assert(healthy.every(({ closed }) => closed === null));
});
