import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { pino } from "pino";
import type { AccessStore } from "../../src/access/access-store.ts";
import { ClusterClock } from "../../src/access/cluster/cluster-clock.ts";
import { LocalAccess } from "../../src/access/local/local-access.ts";
import { type Clock, systemClock } from "../../src/base/time/clock.ts";
import { cleanUp } from "../support/clean-up.ts";
import { openCluster } from "../support/open-cluster.ts";

/** The options of one store. All stores of a place share its data. */
export type StoreOptions = {
  readonly clock?: Clock;
  readonly pepper?: string;
  /** Receives the warnings of the store. */
  readonly warnings?: string[];
};

type OpenStore = (options?: StoreOptions) => Promise<AccessStore>;

/** Creates a place for keys and blocks. The returned function opens a store there, any number of times. */
export const storePlaces: Readonly<Record<string, (t: TestContext) => Promise<OpenStore>>> = {
  "one process": async (t) => {
    const dataDir = await mkdtemp(join(tmpdir(), "oddwire-access-"));
    cleanUp(t, () => rm(dataDir, { recursive: true, force: true }));
    return async ({ clock = systemClock, pepper, warnings = [] } = {}) => {
      const log = logInto(warnings);
      const own = pepper ?? "p".repeat(40);
      const access = LocalAccess.open({ dataDir, pepper: own, clock, log });
      cleanUp(t, () => access.close());
      return access;
    };
  },
  cluster: async (t) => {
    const cluster = await openCluster(t);
    return async ({ warnings = [], clock, ...options } = {}) => {
      const log = logInto(warnings);
      const moved = clock === undefined ? {} : { clusterClock: new OwnClock(clock, log) };
      return cluster.openNode({ ...options, ...moved, log });
    };
  },
};

/** A clock that is moved by a test, and not corrected by servers. */
class OwnClock extends ClusterClock {
  override measure(): void {}
}

function logInto(warnings: string[]) {
  return pino({ level: "warn" }, { write: (line) => warnings.push(line) });
}
