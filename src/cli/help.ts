import { version } from "../base/config/version.ts";
import type { Command, Option } from "./command.ts";
import type { Paint } from "./paint.ts";

/** The list of commands. */
export function formatOverview(commands: readonly Command[], paint: Paint): string {
  const lines = commands.map(({ name, summary, argument }) => [
    `oddwire ${name}${argument === undefined ? "" : ` ${argument.name}`}`,
    summary,
  ]);
  return `${paint("bold", "oddwire")} ${version}: a data service for prediction-market exchanges

${columns(lines, paint)}

oddwire help COMMAND reports more, with examples. Settings are ODDWIRE_* variables; oddwire config shows them.
`;
}

/** All that is to know of one command. */
export function formatCommand(command: Command, paint: Paint): string {
  const { name, summary, details, argument, options, examples } = command;
  const given = Object.entries(options);
  const use = [`oddwire ${name}`];
  if (argument !== undefined) use.push(argument.name);
  if (given.length > 0) use.push("[options]");
  const parts = [`${paint("bold", use.join(" "))}\n\n  ${summary}.`];
  if (details !== undefined) parts.push(details.replaceAll(/^(?=.)/gm, "  "));
  if (argument?.choices !== undefined)
    parts.push(`${argument.name}: ${argument.choices.join(", ")}`);
  if (given.length > 0) {
    const lines = given.map(([word, option]) => [spelling(word, option), meaning(option)]);
    parts.push(`${paint("bold", "Options")}\n${columns(lines, paint)}`);
  }
  const lines = examples.map((example) => `  ${paint("cyan", example)}`);
  parts.push(`${paint("bold", "Examples")}\n${lines.join("\n")}`);
  return `${parts.join("\n\n")}\n`;
}

function spelling(name: string, { value }: Option): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}

function meaning({ description, choices }: Option): string {
  return choices === undefined ? description : `${description}: ${choices.join(", ")}`;
}

function columns(lines: readonly string[][], paint: Paint): string {
  const width = Math.max(...lines.map(([left = ""]) => left.length)) + 2;
  return lines
    .map(([left = "", right = ""]) => `  ${paint("cyan", left.padEnd(width))}${right}`)
    .join("\n");
}
