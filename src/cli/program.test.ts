import assert from "node:assert/strict";
import { test } from "node:test";
import { CommanderError } from "commander";
import { AppError } from "../base/errors.ts";
import { describeFailure } from "./exit-code.ts";
import { buildProgram, everyCommand } from "./program.ts";

/** Runs a command line that must be refused, and returns the message. */
async function refusal(line: string): Promise<string> {
  const program = buildProgram().configureOutput({ writeErr: () => {} });
  try {
    await program.parseAsync(line.split(" "), { from: "user" });
  } catch (thrown) {
    assert(thrown instanceof CommanderError);
    const { code, text } = describeFailure(thrown);
    assert.equal(code, 2);
    assert.match(text, /^oddwire: [^\n]+$/);
    return text;
  }
  return assert.fail(`${line} was understood`);
}

test("suggests the command, option or value that was probably meant", async () => {
  assert.match(await refusal("sevre"), /unknown command 'sevre' \(Did you mean serve\?\)/);
  assert.match(await refusal("help keys crate"), /unknown command 'crate'/);
  assert.match(await refusal("keys crate"), /'crate' \(Did you mean create\?\)/);
  assert.match(await refusal("keys create --scop admin"), /'--scop' \(Did you mean --scope\?\)/);
  assert.match(await refusal("keys create --scope admn"), /Allowed choices are read, write, admin/);
  assert.match(
    await refusal("export trade --out a.csv"),
    /Allowed choices are markets, events, trades, /,
  );
});

test("refuses unknown, missing, repeated and conflicting arguments", async () => {
  assert.match(await refusal("serve now"), /too many arguments/);
  assert.match(await refusal("keys revoke"), /missing required argument 'key'/);
  assert.match(await refusal("keys revoke one two"), /too many arguments/);
  assert.match(await refusal("keys create --scope"), /'--scope <scope>' argument missing/);
  assert.match(await refusal("keys list -x"), /unknown option '-x'/);
  const parse = (line: string) => buildProgram().parseAsync(line.split(" "), { from: "user" });
  await assert.rejects(parse("export trades"), /--out is required/);
  await assert.rejects(parse("export trades --lake here"), /without a list/);
  assert.match(await refusal("import"), /required option '--lake <folder or url>' not specified/);
  const twice = "keys create --scope read --scope=read";
  assert.match(await refusal(twice), /--scope <scope>.* given more than once/);
  assert.match(await refusal("tail --key a --key-file b"), /cannot be used with/);
});

test("shows the help of the program, of a group and of a command", async () => {
  const getHelp = async (line: string) => {
    let written = "";
    const program = buildProgram();
    for (const command of everyCommand(program)) {
      command.configureOutput({ writeOut: (text) => (written += text) });
    }
    await program.parseAsync(line.split(" "), { from: "user" }).catch((thrown: unknown) => {
      assert.equal((thrown as CommanderError).exitCode, 0);
    });
    return written;
  };
  assert.match(await getHelp("help"), /Usage: oddwire \[options\] \[command\]/);
  assert.match(await getHelp("help keys"), /Usage: oddwire keys /);
  assert.match(await getHelp("help keys create"), /Usage: oddwire keys create /);
  assert.equal(await getHelp("help keys create"), await getHelp("keys create --help"));
});

test("a failure keeps its exit code when closing fails after it", () => {
  const full = new AppError("SERVICE_UNAVAILABLE", "the store is not there");
  const both = new SuppressedError(new Error("cannot be closed"), full);
  assert.deepEqual(describeFailure(both), { code: 75, text: "oddwire: the store is not there" });
});
