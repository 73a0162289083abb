import { styleText } from "node:util";
import tab from "@bomb.sh/tab/commander";
import { Command, InvalidArgumentError, type Option } from "commander";
import { readEnvFile } from "../base/config/config.ts";
import { version } from "../base/config/version.ts";
import { addAdminCommands } from "./admin/admin-commands.ts";
import { addClientCommands } from "./client/client-commands.ts";
import { addExamples } from "./command.ts";
import { addLakeCommands } from "./lake/lake-commands.ts";
import { addServiceCommands } from "./service/service-commands.ts";

/** Builds the command line. Wrong use throws commander's `CommanderError` and writes nothing to standard error. */
export function buildProgram(): Command {
  const program = new Command("oddwire")
    .description(`oddwire ${version}: a self-hosted API for on-chain prediction markets`)
    .version(version, "-v, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .helpCommand(false)
    .addHelpText("after", "\nSettings are ODDWIRE_* variables; run `oddwire config` to see them.")
    .configureHelp({ styleTitle: (title) => styleText("bold", title) })
    .configureOutput({ outputError: () => {} })
    .exitOverride()
    .hook("preAction", readEnvFile);
  addServiceCommands(program);
  addAdminCommands(program);
  addClientCommands(program);
  addLakeCommands(program);
  addHelpCommand(program);
  addVersionCommand(program);
  for (const command of everyCommand(program)) {
    if (command !== program) command.copyInheritedSettings(program);
    for (const option of command.options) acceptOnce(option);
  }
  tab(program, { completionCommandName: "completion" });
  const completion = program.commands.find((command) => command.name() === "completion");
  completion
    ?.description("print a completion script for bash, zsh, fish or powershell")
    .hook("preAction", ({ args }) => {
      if (args[0] === "bash") process.stdout.write(bashWords);
    });
  return program;
}

/** Returns a command and all of its subcommands. */
export function everyCommand(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

/** Adds `help`. Commander's own command cannot show the help of nested commands. */
function addHelpCommand(program: Command): void {
  const help = program
    .command("help [command...]")
    .summary("show help for a command")
    .description("Shows the commands, or the help of a command.")
    .action((names: readonly string[]) => {
      let command = program;
      for (const name of names) {
        const next = command.commands.find((one) => one.name() === name);
        if (next === undefined) program.error(`error: unknown command '${name}'`);
        command = next;
      }
      command.outputHelp();
    });
  addExamples(help, ["oddwire help", "oddwire help keys create"]);
}

function addVersionCommand(program: Command): void {
  const command = program
    .command("version")
    .summary("print the version")
    .description("Prints the version, as -v does.")
    .action(() => void process.stdout.write(`${version}\n`));
  addExamples(command, ["oddwire version"]);
}

/** The function of bash-completion that the script calls, for machines without that package. */
const bashWords = `if ! declare -F _get_comp_words_by_ref >/dev/null; then
  _get_comp_words_by_ref() {
    words=("\${COMP_WORDS[@]}") cword=$COMP_CWORD
    cur=\${words[cword]} prev=\${words[cword - 1]}
  }
fi
`;

/** Refuses an option given twice. Commander keeps only the last: a key would lose the ranges of a first `--ips`. */
function acceptOnce(option: Option): void {
  if (option.isBoolean()) return;
  const parse = option.parseArg;
  option.argParser((value: string, previous: unknown) => {
    if (previous !== undefined) throw new InvalidArgumentError("It is given more than once.");
    return parse === undefined ? value : parse(value, undefined);
  });
}
