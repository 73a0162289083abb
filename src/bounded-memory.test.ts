import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { test } from "node:test";

const script = `
  const { boundMemory } = await import(${JSON.stringify(new URL("./bounded-memory.ts", import.meta.url).href)});
  boundMemory();
  console.log(JSON.stringify({ pid: process.pid, flags: process.execArgv, words: process.argv.slice(1), arenas: process.env.MALLOC_ARENA_MAX, mapped: process.env.MALLOC_MMAP_THRESHOLD_, engine: process.env.JE_MALLOC_CONF }));
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
  assert.deepEqual(flags.slice(0, 2), ["--max-semi-space-size=16", "--heap-growing-percent=100"]);
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
  const inherited = await run([], { NODE_OPTIONS: "--max-semi-space-size=8" });
  assert(!inherited.flags.some((flag) => flag.includes("semi-space")));
  const own = await run([], { MALLOC_ARENA_MAX: "5" });
  assert.deepEqual([own.arenas, own.mapped], ["5", "131072"]);
});
