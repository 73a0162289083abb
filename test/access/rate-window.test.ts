/**
 * The contract of `RateWindow`, for one process and for a cluster. `WINDOW_REQUESTS` makes the first test longer: it
 * sends at least that many requests, and its windows are one minute long.
 */
import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { ClusterWindow } from "../../src/access/cluster/cluster-window.ts";
import { Membership } from "../../src/access/cluster/membership.ts";
import { WindowClient } from "../../src/access/cluster/window-client.ts";
import { LocalWindow } from "../../src/access/local/local-window.ts";
import type { RateWindow } from "../../src/access/rate-window.ts";
import { RedisConnection } from "../../src/base/redis/redis-connection.ts";
import { redisNames } from "../../src/base/redis/redis-names.ts";
import type { LimitStatus } from "../../src/base/sliding-window.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { cleanUp } from "../support/clean-up.ts";
import { RedisServer } from "../support/redis/redis-server.ts";
import { silentLog } from "../support/silent-log.ts";
import { waitMsMax } from "../support/wait-for.ts";

const requests = Number(process.env["WINDOW_REQUESTS"] ?? 0);
const windowMs = requests > 0 ? 60_000 : 1500;
const pauseMsMax = requests > 0 ? 2 : 20;
const nowMs = () => systemClock.monotonicMs();
const pause = (ms: number) => systemClock.sleep(ms, new AbortController().signal);

/** Windows that count the same requests: one in a process, or one at each node of a cluster. */
const places: Readonly<Record<string, (t: TestContext) => Promise<readonly RateWindow[]>>> = {
  "one process": async () => [new LocalWindow({ windowMs, entriesMax: 100 })],
  cluster: async (t) => {
    const { url } = await RedisServer.open(t);
    return Promise.all([1, 2, 3].map(() => openClusterWindow(t, url)));
  },
};

/** Opens the window of one node, without the other parts of a node. */
async function openClusterWindow(t: TestContext, url: string): Promise<RateWindow> {
  const names = redisNames("windows");
  const redis = await RedisConnection.open({ url, log: silentLog });
  cleanUp(t, () => redis.close());
  const parts = { redis, names, clock: systemClock };
  const membership = new Membership({ ...parts, isNode: true });
  const { id: nodeId } = membership;
  // On a busy machine a response can take long.
  const options = { nodeId, windowMs, timeoutMs: waitMsMax };
  const client = new WindowClient({ ...parts, ...options });
  client.seen(await membership.renew(0));
  return new ClusterWindow({
    client,
    kind: "key",
    windowMs,
    entriesMax: 100,
    withoutRedis: "share",
  });
}

for (const [place, open] of Object.entries(places)) {
  suite(`windows of ${place}`, { concurrency: true, timeout: 3_600_000 }, () => {
    test("R12: no window admits more than the limit, and no request within it is refused", async (t) => {
      const windows = await open(t);
      const limit = requests > 0 ? 1000 : 50;
      const statuses: LimitStatus[] = [];
      const endMs = nowMs() + 3 * windowMs;
      const ask = async (window: RateWindow) => {
        while (nowMs() < endMs || statuses.length < requests) {
          statuses.push(await window.acquire("caller", limit, nowMs()));
          await pause(Math.random() * pauseMsMax);
        }
      };
      await Promise.all(windows.flatMap((window) => [ask(window), ask(window), ask(window)]));
      t.diagnostic(`${statuses.length} requests`);
      assertExact(statuses, limit);
      assert(statuses.filter(({ isAdmitted }) => isAdmitted).length >= 2 * limit);
    });

    test("acquire lowers the remaining count, peek does not", async (t) => {
      const [window, other = window] = await open(t);
      assert(window !== undefined && other !== undefined);
      const first = await window.acquire("caller", 3, nowMs());
      assert.deepEqual(getCounts(first), { isAdmitted: true, limit: 3, remaining: 2 });
      assert(first.resetMs > 0 && first.resetMs <= windowMs);
      for (let looks = 0; looks < 3; looks += 1)
        assert.equal((await other.peek("caller", 3, nowMs())).remaining, 2);
      await other.acquire("caller", 3, nowMs());
      await window.acquire("caller", 3, nowMs());
      const refused = await other.acquire("caller", 3, nowMs());
      assert.deepEqual(getCounts(refused), { isAdmitted: false, limit: 3, remaining: 0 });
      assert.equal(refused.isUnavailable, false);
      await pause(refused.resetMs + 5);
      assert.equal((await other.acquire("caller", 3, nowMs())).isAdmitted, true);
    });

    test("callers are counted separately, and can be forgotten", async (t) => {
      const [window] = await open(t);
      assert(window !== undefined);
      assert.equal((await window.acquire("one", 1, nowMs())).isAdmitted, true);
      assert.equal((await window.acquire("other", 1, nowMs())).isAdmitted, true);
      assert.equal((await window.acquire("one", 1, nowMs())).isAdmitted, false);
      window.forget("one");
      assert.equal((await window.acquire("one", 1, nowMs())).isAdmitted, true);
      assert.equal((await window.acquire("other", 1, nowMs())).isAdmitted, false);
    });
  });
}

/** Checks the times of the clock that decided, in whatever order the responses came. */
function assertExact(statuses: readonly LimitStatus[], limit: number): void {
  const admitted = getTimes(statuses, true);
  let worst = 0;
  for (let last = 0, first = 0; last < admitted.length; last += 1) {
    while ((admitted[last] ?? 0) - (admitted[first] ?? 0) >= windowMs) first += 1;
    worst = Math.max(worst, last - first + 1);
  }
  assert.equal(worst, limit);
  let first = 0;
  let end = 0;
  for (const atMs of getTimes(statuses, false)) {
    while ((admitted[end] ?? Number.POSITIVE_INFINITY) <= atMs) end += 1;
    while (atMs - (admitted[first] ?? Number.POSITIVE_INFINITY) >= windowMs) first += 1;
    assert.equal(end - first, limit, "one was refused with room");
  }
}

/** Returns the times at which requests were admitted or refused, in order. */
function getTimes(statuses: readonly LimitStatus[], areAdmitted: boolean): readonly number[] {
  return statuses
    .filter(({ isAdmitted }) => isAdmitted === areAdmitted)
    .map(({ atMs }) => atMs)
    .toSorted((one, other) => one - other);
}

function getCounts({ isAdmitted, limit, remaining }: LimitStatus) {
  return { isAdmitted, limit, remaining };
}
