import { type Config, ConfigError, readConfig } from "../../base/config/config.ts";
import { systemClock } from "../../base/time/clock.ts";
import { AuditLog } from "../../feed/audit-log.ts";
import { formatDifference } from "../../feed/audit-range.ts";
import { finishRepair, orderRepair } from "../../storage/recovery/repair.ts";
import { dropMarketsFile } from "../../views/disk/markets-file.ts";
import { exitCodes, print, setExitCode } from "../command.ts";
import { type RangeOptions, withAudit } from "./with-audit.ts";

/** Replaces stored blocks that are proven to differ from the chain. Throws `ConfigError` for a cluster. */
export async function repair(options: RangeOptions): Promise<number> {
  refuseCluster(readConfig("serve"));
  return withAudit({ ...options, isWriting: true }, async ({ dataDir, engine, range, compare }) => {
    let repaired = 0;
    let isProven = true;
    for await (const { differences, correctFacts, mismatch } of compare(1)) {
      // Until all of it is repaired, also if the output cannot be written.
      setExitCode(exitCodes.differs);
      for (const difference of differences) print(formatDifference(difference));
      if (correctFacts === null) {
        print(`left as it is: ${mismatch}`);
        isProven = false;
        continue;
      }
      await orderRepair(engine, correctFacts);
      await finishRepair(engine, () => dropMarketsFile(dataDir));
      repaired += differences.length;
    }
    if (isProven) await (await AuditLog.open(dataDir)).markRepaired(range, systemClock.nowMs());
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
