import type { Coverage } from "../../chain/raw-log.ts";
import { type Difference, formatDifference } from "../../feed/audit-range.ts";
import type { Engine } from "../../storage/engine/engine.ts";
import { readFactSummary } from "../../storage/recovery/fact-fingerprint.ts";
import { verifyAllCommits, verifyCandles } from "../../storage/recovery/recover.ts";
import { exitCodes, print, setExitCode, UsageError } from "../command.ts";
import type { BalanceCheck } from "./check-balances.ts";
import { type RangeOptions, withAudit } from "./with-audit.ts";

const slicesAtOnceDefault = 4;
const slicesAtOnceMax = 16;
const balancesMax = 100_000;

/**
 * Compares stored blocks with the nodes and prints the differences. Throws `StoreDamagedError` when there are none, but
 * other rows are missing.
 */
export function check(
  options: RangeOptions & {
    readonly parallel?: string;
    readonly balances?: string;
    readonly json?: true;
  },
): Promise<number> {
  return withAudit(options, async ({ engine, coverage, range, compare, compareBalances }) => {
    const isJson = options.json === true;
    const balanceCount = toBalanceCount(options.balances);
    const differences: Difference[] = [];
    const mismatches: string[] = [];
    for await (const found of compare(slicesAtOnce(options.parallel))) {
      differences.push(...found.differences);
      setExitCode(exitCodes.differs);
      if (found.mismatch !== null) mismatches.push(found.mismatch);
      if (isJson) continue;
      for (const difference of found.differences) print(formatDifference(difference));
      if (found.mismatch !== null) print(`not proven: ${found.mismatch}`);
    }
    const balances = balanceCount === 0 ? null : await compareBalances(balanceCount);
    const areFactsEqual = differences.length === 0;
    const isEqual = areFactsEqual && (balances?.wrong.length ?? 0) === 0;
    if (areFactsEqual) await verifyDerived(engine, coverage);
    const facts = await readFactSummary(engine, range);
    if (isJson)
      print(JSON.stringify({ ...range, equal: isEqual, differences, mismatches, facts, balances }));
    else {
      for (const [name, { count, hash }] of Object.entries(facts)) {
        print(`${hash.padStart(16, "0")} ${String(count).padStart(9)} ${name}`);
      }
      if (balances !== null) printBalances(balances);
      const verdict = areFactsEqual ? "match the nodes" : "differ from the nodes";
      print(`blocks ${range.from} to ${range.to} ${verdict}`);
    }
    return isEqual ? exitCodes.done : exitCodes.differs;
  });
}

/** Verifies what no node has: the fills by token, and candles. A repair of the fills also repairs both. */
async function verifyDerived(engine: Engine, coverage: Coverage): Promise<void> {
  await verifyAllCommits(engine, coverage);
  await verifyCandles(engine, coverage.last);
}

function printBalances({ block, compared, wrong }: BalanceCheck): void {
  for (const { wallet, token_id, stored, contract } of wrong) {
    print(`${wallet} holds ${contract} of token ${token_id}, and ${stored} is stored`);
  }
  const verdict = wrong.length === 0 ? "equal" : `${wrong.length} differ from`;
  print(`${compared} balances at block ${block}: ${verdict} those of the contracts`);
}

function toBalanceCount(text = "0"): number {
  const count = /^[0-9]{1,7}$/.test(text) ? Number(text) : balancesMax + 1;
  if (count <= balancesMax) return count;
  throw new UsageError(`--balances is a number from 0 to ${balancesMax}`);
}

function slicesAtOnce(text = String(slicesAtOnceDefault)): number {
  const count = /^[0-9]{1,2}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > slicesAtOnceMax) {
    throw new UsageError(`--parallel is a number from 1 to ${slicesAtOnceMax}`);
  }
  return count;
}
