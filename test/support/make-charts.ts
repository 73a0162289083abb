/**
 * Run as a process: makes the copy for charts of the data folder it is given again, again and again,
 * and prints how far it is: `minutes` when they are with the thread, `whole` when it is done.
 */
import { fileURLToPath } from "node:url";
import type { Engine } from "../../src/storage/engine.ts";
import { ChartRollup } from "../../src/views/charts/chart-rollup.ts";
import { IndexedFacts } from "../../src/views/indexed-facts.ts";

export const makeChartsPath = fileURLToPath(import.meta.url);

if (import.meta.main) {
  const { charts, engine, coverage } = await IndexedFacts.open(process.argv[2] ?? "");
  const report: Engine = Object.assign(Object.create(engine) as Engine, {
    query: (sql: string) => engine.query(sql),
    openRows: () => engine.openRows(),
    command: async (sql: string) => {
      await engine.command(sql);
      process.stdout.write("minutes\n");
    },
  });
  for (;;) {
    charts.reset();
    const rollup = new ChartRollup(report, charts);
    rollup.advance(coverage?.last.timestamp ?? 0);
    await rollup.finish();
    process.stdout.write("whole\n");
  }
}
