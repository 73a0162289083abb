/** Prints `docs/configuration.md`, generated from the settings. `npm run docs` writes the file. */
import { allSettings } from "../../src/base/config/config.ts";
import { formatValue, type Setting, type Value } from "../../src/base/config/setting.ts";

const introduction = `# Configuration

Set environment variables, or write them into a file \`.env\` in the working directory. The environment takes precedence over the
file. \`serve\` and \`demo\` accept the common settings as flags too, which take precedence over both.

A variable that starts with \`ODDWIRE_\` and is not listed here is refused, so a typing mistake never goes unnoticed. All mistakes
are reported together at start, with exit code 2. An empty variable counts as unset. Only client commands read \`ODDWIRE_URL\` and
\`ODDWIRE_API_KEY\`.

\`npx oddwire config\` prints the settings in force, with secrets as \`***\` and endpoints by their host.

\`npm run docs\` generates this page from [src/base/config/config.ts](../src/base/config/config.ts); a test compares the two.
`;

const secrets = `
Settings marked *secret* can be read from a file instead: \`ODDWIRE_ADMIN_KEY_FILE=/run/secrets/admin-key\`. Set the
variable or its file, not both.

## The contracts file

\`ODDWIRE_CONTRACTS_FILE\` names a JSON file that replaces the built-in list.
[src/contracts/polygon-contracts.ts](../src/contracts/polygon-contracts.ts) is an example;
[src/contracts/contracts.ts](../src/contracts/contracts.ts) validates the file and reports every mistake with its place. A data
directory belongs to one chain and one list of contracts. With another list it is refused.
`;

/** Returns the whole page. */
export function formatConfigurationPage(): string {
  const rows = allSettings().map(formatRow);
  const head = ["| variable | meaning | value | default |", "|---|---|---|---|"];
  return `${introduction}\n${[...head, ...rows].join("\n")}\n${secrets}`;
}

function formatRow(setting: Setting<Value>): string {
  const { variable, description, form, secret, flag } = setting;
  const fallback = formatValue(setting, setting.fallback);
  const value = secret ? `${form} (*secret*)` : form;
  const shownFallback = fallback === "" ? "none" : `\`${fallback}\``;
  return `| ${[flag === undefined ? `\`${variable}\`` : `\`${variable}\`, \`--${flag}\``, description, value, shownFallback].join(" | ")} |`;
}

if (import.meta.main) process.stdout.write(formatConfigurationPage());
