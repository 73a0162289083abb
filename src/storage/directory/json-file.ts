/** Small JSON files of a data directory, which are read and replaced as a whole. */
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { tryParseJson } from "../../base/json.ts";
import { awaitWrite, StoreDamagedError } from "../engine/store-errors.ts";

/** What a file must contain, and what to do if it is damaged and there is no backup. */
type JsonFile<Value> = {
  readonly isValid: (value: unknown) => value is Value;
  readonly advice?: string;
};

/** Reads a file; `null` when it is missing. Throws `StoreDamagedError`. */
export async function readJsonFile<Value>(
  path: string,
  { isValid, advice }: JsonFile<Value>,
): Promise<Value | null> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw thrown;
  }
  const value = tryParseJson(text);
  if (isValid(value)) return value;
  throw new StoreDamagedError(`${path} is damaged`, { advice });
}

/**
 * Replaces a file durably: it has the new content or the old. Only for the process that has locked the data directory.
 * Throws `DataDirectoryUnwritableError`.
 */
export async function writeJsonFile(path: string, value: unknown): Promise<void> {
  // The next write replaces a draft that a kill has left.
  const draft = `${path}.draft`;
  try {
    await awaitWrite(writeFile(draft, `${JSON.stringify(value)}\n`, { flush: true }));
    await awaitWrite(rename(draft, path));
  } finally {
    await rm(draft, { force: true });
  }
}
