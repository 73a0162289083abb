import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { test } from "node:test";

const begin = `
  const { boundMemory } = await import(${JSON.stringify(new URL("./bounded-memory.ts", import.meta.url).href)});
  boundMemory();
`;
const script = `${begin}
  console.log(JSON.stringify({ pid: process.pid, flags: process.execArgv, words: process.argv.slice(1), arenas: process.env.MALLOC_ARENA_MAX, mapped: process.env.MALLOC_MMAP_THRESHOLD_, engine: process.env.JE_MALLOC_CONF }));
`;

/** Tells how large the young generation of a thread with a bound of 6 MB gets at the most, in bytes. */
const threadScript = `${begin}
  const { Worker } = await import("node:worker_threads");
  const churn = \`
    const { getHeapSpaceStatistics } = process.getBuiltinModule("node:v8");
    const kept = [];
    let most = 0;
    for (let turn = 0; turn < 100; turn += 1) {
      for (let i = 0; i < 100_000; i += 1) kept[i] = { turn };
      const { space_size } = getHeapSpaceStatistics().find((space) => space.space_name === "new_space");
      most = Math.max(most, space_size);
    }
    console.log(most);
  \`;
  new Worker(churn, { eval: true, resourceLimits: { maxYoungGenerationSizeMb: 6 } });
`;

async function run(flags: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const args = [...flags, "--input-type=module", "--eval", script, "--", "one", "two words"];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, NODE_OPTIONS: "", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const told = JSON.parse(await text(child.stdout)) as {
    pid: number;
    flags: string[];
    words: string[];
    arenas?: string;
    mapped?: string;
    engine?: string;
  };
  assert.equal(told.pid, child.pid, "it is the same process");
  return told;
}

test("the process begins anew with the bounds, and with everything else as it was", async () => {
  const { flags, words, arenas, mapped, engine } = await run(["--no-warnings"]);
  assert.deepEqual(flags.slice(0, 2), ["--max-semi-space-size=8", "--heap-growing-percent=100"]);
  assert(flags.includes("--no-warnings"));
  assert.deepEqual(words, ["one", "two words"]);
  assert.deepEqual([arenas, mapped, engine], ["2", "131072", "dirty_decay_ms:1000"]);
});

test("a bound that the operator has set stays", async () => {
  const { flags } = await run(["--max-semi-space-size=32"]);
  assert.equal(
    flags.filter((flag) => flag.includes("semi-space")).join(),
    "--max-semi-space-size=32",
  );
  assert(flags.includes("--heap-growing-percent=100"));
  const inherited = await run([], { NODE_OPTIONS: "--max-semi-space-size=4" });
  assert(!inherited.flags.some((flag) => flag.includes("semi-space")));
  const own = await run([], { MALLOC_ARENA_MAX: "5" });
  assert.deepEqual([own.arenas, own.mapped], ["5", "131072"]);
});

test("a thread keeps to its own bound, not to that of the process", async () => {
  const args = ["--input-type=module", "--eval", threadScript];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, NODE_OPTIONS: "" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const most = Number(await text(child.stdout));
  assert(most > 0 && most <= 6 * 1024 * 1024, `${most} bytes`);
});
