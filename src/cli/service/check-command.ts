import type { Difference } from "../../feed/audit-range.ts";
import { readFactSummary } from "../../storage/fact-fingerprint.ts";
import { type Command, exitCodes } from "../command.ts";
import { formatDifference, rangeOptions, slicesOf, withProof } from "./with-proof.ts";

/** Proves the store against the nodes. */
export const check: Command = {
  name: "check",
  summary: "Read stored blocks again from the nodes and compare",
  details: `Two endpoints are asked; a lone one is asked for the receipts of every block. What differs is sent
by block, contract and event. Ends with 0 if all is equal, 2 if not, and 75 while a service runs on the
data folder or no node answers.`,
  options: { ...rangeOptions, json: { description: "One JSON object, with counts and hashes" } },
  examples: ["oddwire check --from 90000000 --to 90010000", "oddwire check --json"],
  run: (words) =>
    withProof(words, async ({ store, range, audit }) => {
      const isJson = words.isOn("json");
      const differences: Difference[] = [];
      const mismatches: string[] = [];
      for (const slice of slicesOf(range)) {
        const verdict = await audit(slice);
        if (verdict.kind === "equal") continue;
        differences.push(...verdict.differences);
        if (verdict.mismatch !== null) mismatches.push(verdict.mismatch);
        if (isJson) continue;
        for (const difference of verdict.differences) print(formatDifference(difference));
        if (verdict.mismatch !== null) print(`not proven: ${verdict.mismatch}`);
      }
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

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
