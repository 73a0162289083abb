/** The log while no endpoint can be reached. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { EndpointError } from "../../src/chain/chain-errors.ts";
import { ChainSource } from "../../src/chain/sync/chain-source.ts";
import { LogDecoder } from "../../src/contracts/log-decoder.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { SimulatedClock } from "../support/simulated-clock.ts";

type Line = { readonly msg: string; readonly seconds?: number; readonly reason?: string };

test("an outage is logged repeatedly, at growing intervals of at most about ten minutes", async () => {
  const clock = new SimulatedClock();
  const lines: Line[] = [];
  const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line) as Line) });
  const opening = ChainSource.open(
    {
      urls: ["http://one.test", "http://two.test"],
      chainId: 137,
      startBlock: 0,
      filter: new LogDecoder(knownContracts()).filter,
      log,
      clock,
      openTransport: () => ({
        isAnnouncing: false,
        replace() {},
        close() {},
        exchange: () => Promise.reject(new EndpointError("unavailable", "refused by the host")),
      }),
    },
    ({ blocks }) => blocks,
  );
  let source: ChainSource | null = null;
  void opening.then((opened) => (source = opened));
  await clock.run({ isOver: () => source !== null, limitMs: 60_000 });
  const reports = () =>
    lines.filter(({ msg }) => msg === "no endpoint answers; indexing waits, retrying");
  await clock.run({ isOver: () => reports().length === 9, limitMs: 2 * 3_600_000 });
  const seconds = reports().map((line) => line.seconds ?? 0);
  assert(seconds[0] !== undefined && seconds[0] >= 10 && seconds[0] <= 45, seconds.join());
  const waits = seconds.slice(1).map((at, index) => at - (seconds[index] ?? 0));
  assert(
    waits.every((wait, index) => wait >= Math.min(600, 20 * 2 ** index)),
    waits.join(),
  );
  assert(
    waits.every((wait) => wait < 700),
    waits.join(),
  );
  assert.equal(reports()[0]?.reason, "refused by the host");
  (await opening).close();
});
