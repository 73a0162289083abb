import assert from "node:assert/strict";
import { test } from "node:test";
import { type Command, UsageError } from "./command.ts";
import { findCommand, readWords } from "./read-words.ts";

function commandNamed(name: string, rest: Partial<Command> = {}): Command {
  return { name, summary: "", options: {}, examples: [], run: async () => 0, ...rest };
}

const commands = [
  commandNamed("serve"),
  commandNamed("keys list", { options: { json: { description: "" } } }),
  commandNamed("keys create", {
    options: { scope: { value: "SCOPE", choices: ["read", "admin"], description: "" } },
  }),
  commandNamed("show", { argument: { name: "WHAT", choices: ["one", "two"] } }),
];

function read(line: string) {
  return readWords(findCommand(commands, line.split(" ")));
}

function refusal(line: string): string {
  try {
    read(line);
  } catch (error) {
    assert(error instanceof UsageError);
    return error.message;
  }
  return assert.fail(`${line} was understood`);
}

test("reads options, switches and the argument", () => {
  assert.equal(read("keys create --scope admin").text("scope"), "admin");
  assert.equal(read("keys create --scope=admin").text("scope"), "admin");
  assert.equal(read("keys create").text("scope"), null);
  assert.equal(read("keys list --json").isOn("json"), true);
  assert.equal(read("keys list").isOn("json"), false);
  assert.equal(read("show two").argument, "two");
});

test("names what was probably meant", () => {
  assert.match(refusal("sevre"), /no command sevre \(did you mean serve\?\)/);
  assert.match(refusal("keys crate"), /did you mean create\?.*one of list, create/);
  assert.match(refusal("keys"), /oddwire keys takes one of list, create/);
  assert.match(refusal("keys create --scop admin"), /has no --scop \(did you mean --scope\?\)/);
  assert.match(refusal("keys create --scope admn"), /one of read, admin \(did you mean admin\?\)/);
  assert.match(refusal("show tow"), /WHAT is one of one, two \(did you mean two\?\)/);
});

test("refuses what it does not take", () => {
  assert.match(refusal("serve now"), /now is not understood/);
  assert.match(refusal("show"), /needs WHAT/);
  assert.match(refusal("show one two"), /two is not understood/);
  assert.match(refusal("keys create --scope"), /--scope/);
  assert.match(refusal("keys list --json=1"), /--json/);
  assert.match(refusal("keys list -x"), /has no -x/);
  assert.match(refusal("keys create --scope read --scope=read"), /--scope is given more than once/);
  assert.match(refusal("keys list --json --json"), /--json is given more than once/);
});
