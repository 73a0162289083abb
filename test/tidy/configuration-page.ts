/** Prints `docs/configuration.md` from the settings themselves; `npm run docs` writes it there. */
import { describeSettings, type SettingDescription } from "../../src/base/config/config.ts";

const introduction = `# Configuration

Every setting is an environment variable; \`serve\` and \`demo\` take the common ones as flags too, which win. Variables are also read from a file
\`.env\` in the working folder; the environment wins over it. There are no other settings: a variable that starts with \`ODDWIRE_\` and is not listed
here is refused, so a typing mistake never passes for a default. All mistakes are reported together at start, with exit
code 2. An empty variable counts as unset.

\`npx oddwire config\` prints what is in force, with secrets as \`***\` and endpoints by their host.

This page is made from [src/base/config/config.ts](../src/base/config/config.ts) by \`npm run docs\`; a test compares the two.
`;

const secrets = `
Settings marked *secret* may be given as a file instead: \`ODDWIRE_ADMIN_KEY_FILE=/run/secrets/admin-key\`. Give the
variable or its file, not both.

## The contracts file

\`ODDWIRE_CONTRACTS_FILE\` names a JSON file that replaces the built-in list. Its shape is checked by
[src/contracts/contracts.ts](../src/contracts/contracts.ts), which reports every mistake by its place; the built-in list in
[src/contracts/polygon-contracts.ts](../src/contracts/polygon-contracts.ts) is an example. A data folder belongs to one chain
and one list of contracts and is refused with another.
`;

/** The whole page. */
export function formatConfigurationPage(): string {
  const rows = describeSettings().map(formatRow);
  const head = ["| variable | meaning | value | default |", "|---|---|---|---|"];
  return `${introduction}\n${[...head, ...rows].join("\n")}\n${secrets}`;
}

function formatRow(setting: SettingDescription): string {
  const { variable, description, form, fallback, isSecret, flag } = setting;
  const value = isSecret ? `${form} (*secret*)` : form;
  const shownFallback = fallback === "" ? "none" : `\`${fallback}\``;
  return `| ${[flag === null ? `\`${variable}\`` : `\`${variable}\`, \`--${flag}\``, description, value, shownFallback].join(" | ")} |`;
}

if (import.meta.main) process.stdout.write(formatConfigurationPage());
