/** Completion suggests commands, options and values, and each shell accepts its script. */
import assert from "node:assert/strict";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { runCommand, runProgram } from "../support/run-command.ts";

/** The suggestions for the last word, by the text that is typed after `oddwire`. */
const expected: Readonly<Record<string, string>> = {
  se: "serve",
  "keys ": "create help list revoke rotate",
  "keys r": "revoke rotate",
  "keys create --s": "--scope",
  "keys create --scope a": "admin",
  "keys create --scope ": "admin read write",
  "completion ": "bash fish powershell zsh",
  "export tr": "trades",
  "export trades --status ": "confirmed finalized",
};

const folder = await mkdtemp(join(tmpdir(), "oddwire-completion-"));
after(() => rm(folder, { recursive: true }));

test("commands, options and their values are suggested", async () => {
  for (const [line, suggested] of Object.entries(expected)) {
    const { code, stdout } = await runCommand(["complete", "--", ...line.split(" ")]);
    assert.equal(code, 0);
    const words = stdout.trimEnd().split("\n").slice(0, -1);
    assert.equal(getNames(words), suggested, line);
  }
});

for (const shell of ["bash", "zsh", "fish"] as const) {
  test(`${shell} accepts its completion script`, async (t) => {
    if (await isMissing(shell, t)) return;
    const script = await runCommand(["completion", shell]);
    assert.equal(script.code, 0, script.stderr);
    const check = `printf '%s' "$SCRIPT" | ${shell} -n`;
    const checked = await runProgram("sh", ["-c", check], { SCRIPT: script.stdout });
    assert.deepEqual([checked.code, checked.stderr], [0, ""]);
  });
}

test("bash completes a command that is being typed, without the package bash-completion", async (t) => {
  if (await isMissing("bash", t)) return;
  const { stdout: SCRIPT } = await runCommand(["completion", "bash"]);
  const program = `unset -f _get_comp_words_by_ref; compopt() { :; }; eval "$SCRIPT"
COMP_WORDS=(oddwire keys r) COMP_CWORD=2; __oddwire_complete; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const PATH = `${await linkCommand()}:${dirname(process.execPath)}:${process.env["PATH"]}`;
  const words = ["--norc", "--noprofile", "-c", program];
  const { stdout, stderr } = await runProgram("bash", words, { SCRIPT, PATH });
  assert.deepEqual([stderr, getNames(stdout.trimEnd().split("\n"))], ["", "revoke rotate"]);
});

test("fish completes a command that is being typed", async (t) => {
  if (await isMissing("fish", t)) return;
  const { stdout: SCRIPT } = await runCommand(["completion", "fish"]);
  const program = 'echo "$SCRIPT" | source; complete -C "oddwire keys r"';
  const PATH = `${await linkCommand()}:${dirname(process.execPath)}:${process.env["PATH"]}`;
  const words = ["--no-config", "-c", program];
  const { stdout, stderr } = await runProgram("fish", words, { SCRIPT, PATH });
  assert.equal(stderr, "");
  const offered = stdout.trimEnd().split("\n");
  assert.equal(getNames(offered), "revoke rotate");
});

/** Returns a folder that has the command by its name. */
async function linkCommand(): Promise<string> {
  const place = await mkdtemp(join(folder, "bin-"));
  const command = new URL("../../bin/oddwire.js", import.meta.url);
  await symlink(fileURLToPath(command), join(place, "oddwire"));
  return place;
}

/** The suggestions without their descriptions, sorted. */
function getNames(lines: readonly string[]): string {
  const names = lines.map((line) => line.split("\t")[0] ?? "");
  return names.toSorted((one, other) => one.localeCompare(other)).join(" ");
}

async function isMissing(shell: string, t: TestContext): Promise<boolean> {
  try {
    await runProgram(shell, ["-c", "true"]);
    return false;
  } catch (error) {
    assert(process.env["CI"] === undefined, `CI has ${shell}`);
    t.skip(`NO ${shell.toUpperCase()}: its completion was not tested (${String(error)})`);
    return true;
  }
}
