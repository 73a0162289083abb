import { Option } from "commander";
import {
  describeSettings,
  environmentWith,
  type SettingDescription,
} from "../../base/config/config.ts";

/** The values of the given flags, by commander's attribute names. */
export type FlagValues = Readonly<Record<string, string | undefined>>;

const flagged = describeSettings().filter(({ flag }) => flag !== null);

/** Returns the options for settings that also have a flag: all of them, or those in `names`. */
export function settingFlags(names?: readonly string[]): readonly Option[] {
  return flagged.filter(({ flag }) => names?.includes(flag ?? "") ?? true).map(optionOf);
}

/** Returns the environment, in which each given flag replaces its variable. */
export function environmentOf(values: FlagValues): ReturnType<typeof environmentWith> {
  const given = flagged.flatMap((setting) => {
    const text = values[optionOf(setting).attributeName()];
    return text === undefined ? [] : [[setting.variable, text] as const];
  });
  return environmentWith(Object.fromEntries(given));
}

function optionOf({ flag, variable, description, form }: SettingDescription): Option {
  return new Option(`--${flag} <value>`, `${description}: ${form} (${variable})`);
}
