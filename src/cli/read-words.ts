import { parseArgs } from "node:util";
import { toError } from "../base/errors.ts";
import { nearName } from "../base/near-name.ts";
import { type Command, UsageError, type Words } from "./command.ts";

/** A command, and what was said after its name. */
export type Call = { readonly command: Command; readonly rest: readonly string[] };

/** The command that the words begin with. Throws `UsageError` with the name that was meant. */
export function findCommand(commands: readonly Command[], words: readonly string[]): Call {
  const named = commands.filter(({ name }) => startsWith(words, name));
  const command = named.toSorted((one, other) => other.name.length - one.name.length)[0];
  if (command !== undefined) return { command, rest: words.slice(command.name.split(" ").length) };
  const [first = "", second] = words;
  const group = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (group.length === 0) {
    const names = commands.map(({ name }) => name.split(" ")[0] ?? "");
    throw new UsageError(`there is no command ${first}${meant(first, names)}; see oddwire help`);
  }
  const actions = group.map(({ name }) => name.slice(first.length + 1));
  const said =
    second === undefined ? "" : `there is no ${first} ${second}${meant(second, actions)}; `;
  throw new UsageError(`${said}oddwire ${first} takes one of ${actions.join(", ")}`);
}

/** Reads what follows a command's name. Throws `UsageError` about anything it does not take. */
export function readWords({ command, rest }: Call): Words {
  const { values, positionals } = parse({ command, rest });
  const argument = readArgument(command, positionals);
  for (const [name, text] of Object.entries(values))
    refuseOther({ what: `--${name}`, text, choices: command.options[name]?.choices });
  return {
    argument,
    text: (name) => (typeof values[name] === "string" ? values[name] : null),
    isOn: (name) => values[name] === true,
  };
}

/** ` (did you mean --name?)`, or nothing when none is near. */
function meant(name: string, candidates: readonly string[]): string {
  const near = nearName(name, candidates);
  return near === null ? "" : ` (did you mean ${near}?)`;
}

type Values = Readonly<Record<string, string | boolean | undefined>>;

function parse({ command, rest }: Call): { values: Values; positionals: string[] } {
  const options = Object.fromEntries(
    Object.entries(command.options).map(([name, { value }]) => [
      name,
      { type: value === undefined ? ("boolean" as const) : ("string" as const) },
    ]),
  );
  refuseWrongNames(command, rest);
  try {
    return parseArgs({ args: [...rest], options, strict: true, allowPositionals: true });
  } catch (thrown) {
    throw new UsageError(toError(thrown).message, { cause: thrown });
  }
}

function refuseWrongNames(command: Command, rest: readonly string[]): void {
  const names = Object.keys(command.options).map((name) => `--${name}`);
  const given = new Set<string>();
  for (const word of rest) {
    if (word === "--") return;
    const [name = ""] = word.split("=");
    if (!name.startsWith("-") || name === "-") continue;
    if (!names.includes(name))
      throw new UsageError(
        `oddwire ${command.name} has no ${name}${meant(name, names)}; see oddwire help ${command.name}`,
      );
    // Of two values one would be dropped: a key made with --ips twice would work from the last only.
    if (given.has(name)) throw new UsageError(`${name} is given more than once`);
    given.add(name);
  }
}

function readArgument(command: Command, given: readonly string[]): string | null {
  const { name, argument } = command;
  const [first, second] = given;
  const surplus = argument === undefined ? first : second;
  if (surplus !== undefined) throw new UsageError(`oddwire ${name}: ${surplus} is not understood`);
  if (argument === undefined) return null;
  if (first === undefined) throw new UsageError(`oddwire ${name} needs ${argument.name}`);
  refuseOther({ what: argument.name, text: first, choices: argument.choices });
  return first;
}

function refuseOther(given: {
  readonly what: string;
  readonly text: string | boolean | undefined;
  readonly choices: readonly string[] | undefined;
}): void {
  const { what, text, choices } = given;
  if (choices === undefined || typeof text !== "string" || choices.includes(text)) return;
  throw new UsageError(`${what} is one of ${choices.join(", ")}${meant(text, choices)}`);
}

function startsWith(words: readonly string[], name: string): boolean {
  return name.split(" ").every((part, index) => words[index] === part);
}
