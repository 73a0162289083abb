/** What each shell makes of its script, with its own machinery of completion where it lets itself be asked. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { runCommand, runProgram } from "../support/run-command.ts";

/** What is typed, and what is offered for its last word. */
const expected: Readonly<Record<string, string>> = {
  "oddwire se": "serve",
  "oddwire keys ": "create list revoke rotate",
  "oddwire keys r": "revoke rotate",
  "oddwire keys create --name x --s": "--scope",
  "oddwire keys create --scope a": "admin",
  "oddwire keys create --scope ": "admin read write",
  "oddwire completion ": "bash fish zsh",
  "oddwire export tr": "trades",
  "oddwire export trades --status ": "confirmed finalized",
  "oddwire help ta": "tail",
};

/** Reads SCRIPT as the help says and prints what is offered for each line of ASKED. */
const programs = {
  bash: `source <(echo "$SCRIPT")
while IFS= read -r line; do
  read -ra COMP_WORDS <<< "$line"
  [[ $line == *" " ]] && COMP_WORDS+=("")
  COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
  _oddwire
  echo "\${COMPREPLY[*]}"
done <<< "$ASKED"`,
  // Completes nowhere but in an interactive shell on a terminal, which zpty is.
  zsh: `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PROMPT= RPS1=; autoload -Uz compinit; compinit -u -D; source <(print -r -- $SCRIPT)'
zpty -w shell 'compadd() { builtin compadd -O offered "$@"; print -r -- "{$offered}"; }; print rea""dy'
zpty -r shell out '*ready*'
for line in "\${(f)ASKED}"; do
  zpty -n -w shell $'\\C-u'$line$'\\t'
  zpty -r shell out '*{*}*'
  print -r -- "\${\${out##*\\{}%%\\}*}"
done
zpty -d shell`,
  fish: `echo "$SCRIPT" | source
for line in (string split \\n $ASKED)
  complete -C $line | string join ' '
end`,
};
const quietly = { bash: "--norc", zsh: "-f", fish: "--no-config" };

for (const shell of ["bash", "zsh", "fish"] as const) {
  test(`${shell} completes commands, options and their values`, async (t) => {
    if (await isMissing(shell, t)) return;
    const script = await runCommand(["completion", shell]);
    assert.equal(script.code, 0, script.stderr);
    const settings = { SCRIPT: script.stdout, ASKED: Object.keys(expected).join("\n") };
    const words = [quietly[shell], "-c", programs[shell]];
    const { stdout, stderr } = await runProgram(shell, words, settings);
    assert.equal(stderr, "");
    const offered = stdout.trimEnd().split("\n");
    assert.deepEqual(
      offered.map((line) => line.split(" ").toSorted().join(" ")),
      Object.values(expected),
    );
  });
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
