import { describeSettings, environmentWith } from "../../base/config/config.ts";
import type { Option, Words } from "../command.ts";

const flagged = describeSettings().flatMap(({ flag, ...setting }) =>
  flag === null ? [] : [{ flag, ...setting }],
);

/** The settings that are given so often that they are flags too; all of them, or those named. */
export function settingFlags(names?: readonly string[]): Readonly<Record<string, Option>> {
  return Object.fromEntries(
    flagged
      .filter(({ flag }) => names?.includes(flag) ?? true)
      .map(({ flag, variable, description, form }) => [
        flag,
        { value: "VALUE", description: `${description}: ${form} (${variable})` },
      ]),
  );
}

/** The environment in which a flag that was given stands for its variable. */
export function environmentOf(words: Words): ReturnType<typeof environmentWith> {
  const given = flagged.flatMap(({ flag, variable }) => {
    const text = words.text(flag);
    return text === null ? [] : [[variable, text] as const];
  });
  return environmentWith(Object.fromEntries(given));
}
