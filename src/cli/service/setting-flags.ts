import { Option } from "commander";
import { allSettings, environmentWith } from "../../base/config/config.ts";
import type { Setting, Value } from "../../base/config/setting.ts";

/** The values of the given flags, by commander's attribute names. */
export type FlagValues = Readonly<Record<string, string | undefined>>;

const flagged = allSettings().filter(({ flag }) => flag !== undefined);

/** Returns the options for settings that also have a flag: all of them, or those in `names`. */
export function settingFlags(names?: readonly string[]): readonly Option[] {
  return flagged.filter(({ flag }) => names?.includes(flag ?? "") ?? true).map(getOption);
}

/** Returns the environment, in which each given flag replaces its variable. */
export function toEnvironment(values: FlagValues): ReturnType<typeof environmentWith> {
  const given = flagged.flatMap((setting) => {
    const text = values[getOption(setting).attributeName()];
    return text === undefined ? [] : [[setting.variable, text] as const];
  });
  return environmentWith(Object.fromEntries(given));
}

function getOption({ flag, variable, description, form }: Setting<Value>): Option {
  return new Option(`--${flag} <value>`, `${description}: ${form} (${variable})`);
}
