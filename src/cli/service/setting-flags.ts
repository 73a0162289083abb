import { Option } from "commander";
import { describeSettings, environmentWith } from "../../base/config/config.ts";

/** The flags that were given, by the name that commander has for them. */
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

/** The settings that are given so often that they are flags too; all of them, or those named. */
export function settingFlags(names?: readonly string[]): readonly Option[] {
  return flagged
    .filter(({ flag }) => names?.includes(flag) ?? true)
    .map(({ option: { flags, description } }) => new Option(flags, description));
}

/** The environment in which a flag that was given replaces its variable. */
export function environmentOf(values: FlagValues): ReturnType<typeof environmentWith> {
  const given = flagged.flatMap(({ variable, option }) => {
    const text = values[option.attributeName()];
    return text === undefined ? [] : [[variable, text] as const];
  });
  return environmentWith(Object.fromEntries(given));
}
