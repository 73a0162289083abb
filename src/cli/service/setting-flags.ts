import { Option } from "commander";
import { describeSettings, environmentWith } from "../../base/config/config.ts";

/** The values of the given flags, by commander's attribute names. */
export type FlagValues = Readonly<Record<string, string | undefined>>;

const flagged = describeSettings().flatMap(({ flag, variable, description, form }) =>
  flag === null
    ? []
    : [
        {
          flag,
          variable,
          option: new Option(`--${flag} <value>`, `${description}: ${form} (${variable})`),
        },
      ],
);

/** Returns the options for settings that also have a flag: all of them, or those in `names`. */
export function settingFlags(names?: readonly string[]): readonly Option[] {
  return flagged
    .filter(({ flag }) => names?.includes(flag) ?? true)
    .map(({ option: { flags, description } }) => new Option(flags, description));
}

/** Returns the environment, in which each given flag replaces its variable. */
export function environmentOf(values: FlagValues): ReturnType<typeof environmentWith> {
  const given = flagged.flatMap(({ variable, option }) => {
    const text = values[option.attributeName()];
    return text === undefined ? [] : [[variable, text] as const];
  });
  return environmentWith(Object.fromEntries(given));
}
