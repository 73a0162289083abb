import { join } from "node:path";
import { type Finished, runProgram } from "../support/run-command.ts";
import { clientFolder, python } from "./ruff.ts";

const settings = { PYTHONDONTWRITEBYTECODE: "1", PYTHONPATH: join(clientFolder, "src") };

/** Runs Python in the folder of the client. The last word can be settings. */
export async function runPython(
  ...words: readonly (string | Readonly<Record<string, string>>)[]
): Promise<Finished> {
  const texts = words.filter((word) => typeof word === "string");
  const more = words.filter((word) => typeof word === "object");
  const inFolder = ["-c", 'cd "$1" && shift && exec "$@"', "sh", clientFolder, python, ...texts];
  return runProgram("sh", inFolder, Object.assign({}, settings, ...more));
}
