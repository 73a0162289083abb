import { type Command, exitCodes } from "./command.ts";

const shells = ["bash", "zsh", "fish"] as const;

/** What may come next after some words, in the notation of a shell pattern. */
type Case = { readonly pattern: string; readonly next: readonly string[] };

/** Prints what makes a shell complete the words of `commands`, itself included. */
export function completionOf(commands: () => readonly Command[]): Command {
  return {
    name: "completion",
    summary: "Print what makes a shell complete the words of oddwire",
    details: "In zsh, compinit has to have run before.",
    argument: { name: "SHELL", choices: shells },
    options: {},
    examples: [
      "source <(oddwire completion bash)",
      "source <(oddwire completion zsh)",
      "oddwire completion fish | source",
    ],
    run: async ({ argument }) => {
      process.stdout.write(scriptOf(argument, casesOf(commands())));
      return exitCodes.done;
    },
  };
}

function scriptOf(shell: string | null, cases: readonly Case[]): string {
  if (shell === "fish") return fishScript(cases);
  const arms = cases.map(({ pattern, next }) => `    ${pattern}) next="${next.join(" ")}" ;;`);
  const choose = ['  case "$line" in', ...arms, "  esac"].join("\n");
  return shell === "zsh" ? zshScript(choose) : bashScript(choose);
}

/** The words before the one at the cursor, without the name of the program, decide. */
function bashScript(choose: string): string {
  return `_oddwire() {
  local line="\${COMP_WORDS[*]:1:COMP_CWORD-1}" next=""
${choose}
  COMPREPLY=($(compgen -W "$next" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _oddwire oddwire
`;
}

/** In a file of `fpath` the function runs first; elsewhere it is registered. */
function zshScript(choose: string): string {
  return `#compdef oddwire
_oddwire() {
  local line="\${(j: :)words[2,CURRENT-1]}" next=""
${choose}
  compadd -- \${=next} || _files
}
if [[ $funcstack[1] == _oddwire ]]; then _oddwire; else compdef _oddwire oddwire; fi
`;
}

function fishScript(cases: readonly Case[]): string {
  const arms = cases.map(({ pattern, next }) => {
    // Stars stay within the quotes: outside of them they would be looked for among the files.
    const quoted = pattern
      .split("|")
      .map((one) => `'${one.replaceAll('"', "")}'`)
      .join(" ");
    return `    case ${quoted}\n      printf '%s\\n' ${next.join(" ")}`;
  });
  return `function __oddwire_next
  set -l words (commandline -opc)
  switch "$words[2..-1]"
${arms.join("\n")}
  end
end
complete -c oddwire -f -a "(__oddwire_next)"
complete -c oddwire -F -n "string match -q -- '*/*' (commandline -ct)"
`;
}

/** The first pattern that fits counts, so values of options come before the options. */
function casesOf(commands: readonly Command[]): Case[] {
  const names = commands.map(({ name }) => name);
  return [...commands.flatMap(casesOfCommand), ...casesOfNames(names)];
}

function casesOfCommand({ name, argument, options }: Command): Case[] {
  const values = Object.entries(options).flatMap(([option, { choices }]) =>
    choices === undefined ? [] : [{ pattern: `"${name}"*" --${option}"`, next: choices }],
  );
  const next = [
    ...(argument?.choices ?? []),
    ...Object.keys(options).map((option) => `--${option}`),
  ];
  return next.length === 0 ? values : [...values, { pattern: `"${name}"|"${name} "*`, next }];
}

function casesOfNames(names: readonly string[]): Case[] {
  const groups = Map.groupBy(
    names.filter((name) => name.includes(" ")),
    (name) => name.split(" ")[0] ?? "",
  );
  const actions = [...groups].map(([group, members]) => ({
    pattern: `"${group}"`,
    next: members.map((name) => name.slice(group.length + 1)),
  }));
  const first = new Set(names.map((name) => name.split(" ")[0] ?? ""));
  const all = { pattern: '""|"help"', next: [...first, "help"] };
  return [...actions, all];
}
