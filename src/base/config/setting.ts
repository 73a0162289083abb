import { readFileSync } from "node:fs";
import { toError } from "../errors.ts";

/** Variables and their texts. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One variable of the environment: `form` is its type, unit and range in words, for people. */
export type Setting<T> = {
  readonly variable: `ODDWIRE_${string}`;
  readonly description: string;
  readonly form: string;
  /** What an unset or empty variable means. */
  readonly fallback: T;
  /** `null` when the text is not of the form. */
  readonly read: (text: string) => T | null;
  /** May also be given as a file named by `<variable>_FILE`, and is never printed. */
  readonly secret?: true;
  /** The flag of `serve` and `demo` with the same meaning, without its dashes. */
  readonly flag?: string;
  /** What `formatConfig` prints in place of the value. */
  show?(value: T): string;
};

/** What a setting may be. */
export type Value = string | number | readonly string[] | null;

/** Declares a setting; the type of its value follows. */
export function setting<T>(known: Setting<T>): Setting<T> {
  return known;
}

/** The form of a number without sign and fraction. */
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

/** A comma list of texts that all pass `isValid`; spaces around them are dropped. */
export function listOf(
  isValid: (text: string) => boolean,
): (text: string) => readonly string[] | null {
  return (text) => {
    const items = text.split(",").map((item) => item.trim());
    return items.every(isValid) ? items : null;
  };
}

/** Whether a text is a URL of such a protocol. */
export function isUrl(text: string, protocol: RegExp): boolean {
  return URL.canParse(text) && protocol.test(new URL(text).protocol);
}

/** Whether a text is a URL with a user name or a password. */
export function hasCredentials(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && `${url.username}${url.password}` !== "";
}

/** The values of settings in an environment, or their fallbacks; what is wrong is added to `mistakes`. */
export function readValues(
  known: Readonly<Record<string, Setting<Value>>>,
  environment: Environment,
  mistakes: string[],
): Record<string, Value> {
  const read = Object.entries(known).map(([field, one]) => {
    const text = textOf(one, environment, mistakes);
    if (text === null) return [field, one.fallback] as const;
    const value = one.read(text);
    if (value === null) mistakes.push(malformed(one, text));
    return [field, value] as const;
  });
  return Object.fromEntries(read);
}

/** A value as it would be written. */
export function shown(known: Setting<Value>, value: Value): string {
  return known.show?.(value) ?? String(value ?? "");
}

/** The text of a variable or of its `_FILE`; `null` when unset. An empty value counts as unset. */
function textOf(
  known: Setting<Value>,
  environment: Environment,
  mistakes: string[],
): string | null {
  const direct = environment[known.variable]?.trim() ?? "";
  const fileVariable = `${known.variable}_FILE`;
  const path = known.secret ? (environment[fileVariable]?.trim() ?? "") : "";
  if (path === "") return direct === "" ? null : direct;
  if (direct !== "") mistakes.push(`Give ${known.variable} or ${fileVariable}, not both`);
  try {
    const text = readFileSync(path, "utf8").trim();
    if (text === "") mistakes.push(`${fileVariable} names an empty file: ${path}`);
    return text === "" ? null : text;
  } catch (thrown) {
    mistakes.push(`${fileVariable} cannot be read: ${toError(thrown).message}`);
    return null;
  }
}

function malformed(known: Setting<Value>, text: string): string {
  // Endpoints hold secrets too, which is why they have a form of their own to be shown in.
  const isPrivate = known.secret || known.show !== undefined || hasCredentials(text);
  const quoted = isPrivate ? "" : `, not ${JSON.stringify(text)}`;
  return `${known.variable} must be ${known.form}${quoted}`;
}

/** An origin as browsers send it, such as `https://app.example.com`. */
export function isOrigin(text: string): boolean {
  return isUrl(text, /^https?:$/) && new URL(text).origin === text;
}
