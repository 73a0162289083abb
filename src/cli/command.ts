/** What a command of the command line is made of. Help and completion are written from it. */

/** One `--name`. Without `value` it is a switch. */
export type Option = {
  readonly description: string;
  /** What stands for its value in the help, such as `URL`. */
  readonly value?: string;
  /** The only values it takes. */
  readonly choices?: readonly string[];
};

/** The words after a command, understood. */
export type Words = {
  readonly argument: string | null;
  /** The value of an option; `null` when it was not given. */
  text(name: string): string | null;
  isOn(name: string): boolean;
};

/** One command. `run` resolves with the exit code. */
export type Command = {
  /** The words it is called by, such as `keys create`. */
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** Further sentences for its own help. */
  readonly details?: string;
  /** The one word it takes next to options. */
  readonly argument?: { readonly name: string; readonly choices?: readonly string[] };
  readonly options: Readonly<Record<string, Option>>;
  readonly examples: readonly string[];
  run(words: Words): Promise<number>;
};

/** What the process ends with. */
export const exitCodes = {
  done: 0,
  failed: 1,
  misused: 2,
  differs: 2,
  bug: 70,
  tryAgain: 75,
} as const;

/** A mistake in the words after `oddwire`. */
export class UsageError extends Error {
  override name = "UsageError";
}
