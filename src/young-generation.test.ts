import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { test } from "node:test";

const script = `
  const { limitYoungGeneration } = await import(${JSON.stringify(new URL("./young-generation.ts", import.meta.url).href)});
  limitYoungGeneration();
  console.log(JSON.stringify({ pid: process.pid, flags: process.execArgv, words: process.argv.slice(1) }));
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
  };
  assert.equal(told.pid, child.pid, "it is the same process");
  return told;
}

test("the process begins anew with the limit, and with everything else as it was", async () => {
  const { flags, words } = await run(["--no-warnings"]);
  assert.equal(flags[0], "--max-semi-space-size=16");
  assert(flags.includes("--no-warnings"));
  assert.deepEqual(words, ["one", "two words"]);
});

test("a limit that the operator has set stays", async () => {
  const { flags } = await run(["--max-semi-space-size=32"]);
  assert.equal(
    flags.filter((flag) => flag.includes("semi-space")).join(),
    "--max-semi-space-size=32",
  );
  const inherited = await run([], { NODE_OPTIONS: "--max-semi-space-size=8" });
  assert(!inherited.flags.some((flag) => flag.includes("semi-space")));
});
