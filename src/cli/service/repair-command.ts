import { type Config, ConfigError, readConfig } from "../../base/config/config.ts";
import { systemClock } from "../../base/time/clock.ts";
import { AuditLog } from "../../feed/audit-log.ts";
import { formatDifference } from "../../feed/audit-range.ts";
import { finishRepair, orderRepair } from "../../storage/repair.ts";
import { dropMarketsFile } from "../../views/disk/markets-file.ts";
import { exitCodes, print } from "../command.ts";
import { CheckProgress } from "./check-progress.ts";
import { type RangeOptions, slicesOf, withAudit } from "./with-audit.ts";

/** Replaces stored blocks that are proven to differ from the chain. Throws `ConfigError` for a cluster. */
export async function repair(options: RangeOptions): Promise<number> {
  const config = readConfig("serve");
  refuseCluster(config);
  const isShared = config.clickhouseUrl !== null;
  return withAudit({ ...options, isWriting: true }, async ({ dataDir, store, range, audit }) => {
    let repaired = 0;
    let isProven = true;
    const progress = new CheckProgress({ range, output: process.stderr, clock: systemClock });
    for (const slice of slicesOf(range)) {
      const verdict = await audit(slice);
      progress.reach(slice.to);
      if (verdict.kind === "equal") continue;
      progress.clear();
      for (const difference of verdict.differences) print(formatDifference(difference));
      if (verdict.correctFacts === null) {
        print(`left as it is: ${verdict.mismatch}`);
        isProven = false;
        continue;
      }
      await orderRepair(store.engine, verdict.correctFacts);
      await finishRepair(store.engine, () => dropMarketsFile(dataDir), { isShared });
      repaired += verdict.differences.length;
    }
    progress.clear();
    if (isProven) markRepaired(dataDir, range);
    print(`blocks ${range.from} to ${range.to}: ${repaired} facts repaired`);
    return isProven ? exitCodes.done : exitCodes.differs;
  });
}

function refuseCluster({ clickhouseCluster: cluster }: Config): void {
  if (cluster === null) return;
  throw new ConfigError([
    `ODDWIRE_CLICKHOUSE_CLUSTER is ${cluster}: a ClickHouse cluster cannot be repaired while its replicas are read; ` +
      "see what differs with `oddwire check`, and index again into another ODDWIRE_CLICKHOUSE_DATABASE " +
      '(docs/clickhouse.md, "Corrupt blocks")',
  ]);
}

function markRepaired(dataDir: string, range: Parameters<AuditLog["markRepaired"]>[0]): void {
  const auditLog = AuditLog.open(dataDir);
  try {
    auditLog.markRepaired(range, systemClock.nowMs());
  } finally {
    auditLog.close();
  }
}
