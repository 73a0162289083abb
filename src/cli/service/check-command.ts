import { systemClock } from "../../base/time/clock.ts";
import { mapInOrder } from "../../base/time/map-in-order.ts";
import type { BlockRange } from "../../chain/raw-log.ts";
import { type Difference, formatDifference } from "../../feed/audit-range.ts";
import { readFactSummary } from "../../storage/fact-fingerprint.ts";
import { verifyAllCommits, verifyCandles } from "../../storage/recover.ts";
import type { CommittedFacts } from "../../storage/server/open-database.ts";
import { exitCodes, print, UsageError } from "../command.ts";
import { CheckProgress } from "./check-progress.ts";
import { type RangeOptions, slicesOf, withAudit } from "./with-audit.ts";

const slicesAtOnceDefault = 4;
const slicesAtOnceMax = 16;

/**
 * Compares stored blocks with the nodes and prints the differences. Throws `StoreDamagedError` when there are none, but
 * other rows are missing.
 */
export function check(
  options: RangeOptions & { readonly parallel?: string; readonly json?: true },
): Promise<number> {
  return withAudit(options, async ({ store, range, audit }) => {
    const isJson = options.json === true;
    const progress = new CheckProgress({ range, output: process.stderr, clock: systemClock });
    const differences: Difference[] = [];
    const mismatches: string[] = [];
    const auditSlice = async (slice: BlockRange) => ({ slice, verdict: await audit(slice) });
    const audited = mapInOrder(slicesOf(range), auditSlice, slicesAtOnce(options.parallel));
    for await (const { slice, verdict } of audited) {
      progress.reach(slice.to);
      if (verdict.kind === "equal") continue;
      progress.clear();
      differences.push(...verdict.differences);
      if (verdict.mismatch !== null) mismatches.push(verdict.mismatch);
      if (isJson) continue;
      for (const difference of verdict.differences) print(formatDifference(difference));
      if (verdict.mismatch !== null) print(`not proven: ${verdict.mismatch}`);
    }
    progress.clear();
    const isEqual = differences.length === 0;
    if (isEqual) await verifyDerived(store);
    const facts = await readFactSummary(store.engine, range);
    if (isJson) print(JSON.stringify({ ...range, equal: isEqual, differences, mismatches, facts }));
    else {
      for (const [name, { count, hash }] of Object.entries(facts)) {
        print(`${hash.padStart(16, "0")} ${String(count).padStart(9)} ${name}`);
      }
      const verdict = isEqual ? "are what the nodes say" : "are not what the nodes say";
      print(`blocks ${range.from} to ${range.to} ${verdict}`);
    }
    return isEqual ? exitCodes.done : exitCodes.differs;
  });
}

/** Verifies what no node has: the fills by token, and candles. A repair of the fills also repairs both. */
async function verifyDerived({ engine, coverage }: CommittedFacts): Promise<void> {
  await verifyAllCommits(engine, coverage);
  if (coverage !== null) await verifyCandles(engine, coverage.last);
}

function slicesAtOnce(text = String(slicesAtOnceDefault)): number {
  const count = /^[0-9]{1,2}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > slicesAtOnceMax) {
    throw new UsageError(`--parallel is a number from 1 to ${slicesAtOnceMax}`);
  }
  return count;
}
