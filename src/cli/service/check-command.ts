import { systemClock } from "../../base/time/clock.ts";
import { mapInOrder } from "../../base/time/map-in-order.ts";
import type { BlockRange } from "../../chain/raw-log.ts";
import type { Difference } from "../../feed/audit-range.ts";
import { readFactSummary } from "../../storage/fact-fingerprint.ts";
import { type Command, exitCodes, UsageError, type Words } from "../command.ts";
import { CheckProgress } from "./check-progress.ts";
import { formatDifference, rangeOptions, slicesOf, withProof } from "./with-proof.ts";

const slicesAtOnceDefault = 4;
const slicesAtOnceMax = 16;

/** Proves the store against the nodes. */
export const check: Command = {
  name: "check",
  summary: "Read stored blocks again from the nodes and compare",
  details: `Two endpoints are asked; a lone one is asked for the receipts of every block. What differs is
printed by block, contract and event, progress on standard error. Ends with 0 if all is equal, 2 if not, and 75 while a service runs on the
data folder or no node answers.`,
  options: {
    ...rangeOptions,
    parallel: {
      value: "N",
      description: `Slices of 500 blocks read at a time, 1 to ${slicesAtOnceMax} (default: ${slicesAtOnceDefault})`,
    },
    json: { description: "One JSON object, with counts and hashes" },
  },
  examples: ["oddwire check --from 90000000 --to 90010000", "oddwire check --json"],
  run: (words) =>
    withProof(words, async ({ store, range, audit }) => {
      const isJson = words.isOn("json");
      const progress = new CheckProgress({ range, output: process.stderr, clock: systemClock });
      const differences: Difference[] = [];
      const mismatches: string[] = [];
      const auditSlice = async (slice: BlockRange) => ({ slice, verdict: await audit(slice) });
      const audited = mapInOrder(slicesOf(range), auditSlice, slicesAtOnce(words));
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
      const facts = await readFactSummary(store.engine, range);
      if (isJson)
        print(JSON.stringify({ ...range, equal: isEqual, differences, mismatches, facts }));
      else {
        for (const [name, { count, hash }] of Object.entries(facts)) {
          print(`${hash.padStart(16, "0")} ${String(count).padStart(9)} ${name}`);
        }
        const verdict = isEqual ? "are what the nodes say" : "are not what the nodes say";
        print(`blocks ${range.from} to ${range.to} ${verdict}`);
      }
      return isEqual ? exitCodes.done : exitCodes.differs;
    }),
};

function slicesAtOnce(words: Words): number {
  const text = words.text("parallel") ?? String(slicesAtOnceDefault);
  const count = /^[0-9]{1,2}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > slicesAtOnceMax) {
    throw new UsageError(`--parallel is a number from 1 to ${slicesAtOnceMax}`);
  }
  return count;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
