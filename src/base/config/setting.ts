import { readFileSync } from "node:fs";
import { toError } from "../errors.ts";

/** Environment variables and their values. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A setting, read from an environment variable. `form` describes its type, unit and range for people. */
export type Setting<T> = {
  readonly variable: `ODDWIRE_${string}`;
  readonly description: string;
  readonly form: string;
  /** The value when the variable is unset or empty. */
  readonly fallback: T;
  /** Parses the text; `null` when it does not have the form. */
  readonly read: (text: string) => T | null;
  /** Whether the value is secret: it is never printed, and can be in a file whose path is in `<variable>_FILE`. */
  readonly secret?: true;
  /** The flag of `serve` and `demo` with the same meaning, without its dashes. */
  readonly flag?: string;
  /** Returns the text that `formatConfig` prints instead of the value. */
  show?(value: T): string;
};

/** The types of values of settings. */
export type Value = string | number | readonly string[] | null;

/** Defines a setting. The type of its value is inferred. */
export function setting<T>(definition: Setting<T>): Setting<T> {
  return definition;
}

/** Returns the form, default and parser of a whole number. */
export function wholeNumber(options: { min: number; max: number; fallback: number }) {
  const { min, max, fallback } = options;
  return {
    form: `a whole number from ${min} to ${max}`,
    fallback,
    read: (text: string): number | null => {
      const value = /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : -1;
      return value >= min && value <= max ? value : null;
    },
  };
}

/** Returns the form, default and parser of one of some words, of which the first is the default. */
export function oneWord<Word extends string>(...words: readonly [Word, ...Word[]]) {
  return {
    form: `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`,
    fallback: words[0],
    read: (text: string): Word | null => words.find((word) => word === text) ?? null,
  };
}

/** Returns a parser of a comma list whose items all pass `isValid`. Spaces around items are dropped. */
export function getList(
  isValid: (text: string) => boolean,
): (text: string) => readonly string[] | null {
  return (text) => {
    const items = text.split(",").map((item) => item.trim());
    return items.every(isValid) ? items : null;
  };
}

/** Whether a text is a URL whose protocol, with its colon, matches. */
export function isUrl(text: string, protocol: RegExp): boolean {
  return URL.canParse(text) && protocol.test(new URL(text).protocol);
}

/** Whether a text is a URL with a user name or a password. */
export function hasCredentials(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && `${url.username}${url.password}` !== "";
}

/** Reads settings from an environment; a setting that is not set has its fallback. Adds mistakes to `mistakes`. */
export function readValues(
  settings: Readonly<Record<string, Setting<Value>>>,
  environment: Environment,
  mistakes: string[],
): Record<string, Value> {
  const read = Object.entries(settings).map(([field, one]) => {
    const text = toText(one, environment, mistakes);
    if (text === null) return [field, one.fallback] as const;
    const value = one.read(text);
    if (value === null) mistakes.push(malformed(one, text));
    return [field, value] as const;
  });
  return Object.fromEntries(read);
}

/** Formats a value as it would be written. */
export function formatValue(definition: Setting<Value>, value: Value): string {
  return definition.show?.(value) ?? String(value ?? "");
}

/** Reads the text of a variable or of its `_FILE`; `null` when neither is set. An empty value counts as unset. */
function toText(
  definition: Setting<Value>,
  environment: Environment,
  mistakes: string[],
): string | null {
  const direct = environment[definition.variable]?.trim() ?? "";
  const fileVariable = `${definition.variable}_FILE`;
  const path = definition.secret ? (environment[fileVariable]?.trim() ?? "") : "";
  if (path === "") return direct === "" ? null : direct;
  if (direct !== "") mistakes.push(`Give ${definition.variable} or ${fileVariable}, not both`);
  try {
    const text = readFileSync(path, "utf8").trim();
    if (text === "") mistakes.push(`${fileVariable} names an empty file: ${path}`);
    return text === "" ? null : text;
  } catch (thrown) {
    mistakes.push(`${fileVariable} cannot be read: ${toError(thrown).message}`);
    return null;
  }
}

/** Removes the byte order mark, which editors on Windows write at the beginning of a file. */
export function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, "");
}

function malformed(definition: Setting<Value>, text: string): string {
  // Settings with `show`, such as endpoints, contain secrets too, so their values are not quoted.
  const isPrivate = definition.secret || definition.show !== undefined || hasCredentials(text);
  const quoted = isPrivate ? "" : `, not ${JSON.stringify(text)}`;
  return `${definition.variable} must be ${definition.form}${quoted}`;
}

/** Whether a text is an origin as browsers send it, such as `https://app.example.com`. */
export function isOrigin(text: string): boolean {
  return isUrl(text, /^https?:$/) && new URL(text).origin === text;
}
