/** Formats and lints the Python client by the settings of its `pyproject.toml`. `npm run format` writes the files. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { matchesGlob, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { PositionEncoding, Workspace } from "@astral-sh/ruff-wasm-nodejs";
import { listFiles } from "../tidy/project-files.ts";

/** Debian's Python, which finds Debian's packages. */
export const python = "/usr/bin/python3";
const root = fileURLToPath(new URL("../../", import.meta.url));
export const clientFolder = resolve(root, "clients/python");

type Settings = {
  readonly lint: { readonly "per-file-ignores": Readonly<Record<string, readonly string[]>> };
};
type Found = {
  readonly code: string | null;
  readonly message: string;
  readonly start_location: { readonly row: number };
};

let settings: Settings | null = null;

/** Returns a text in ruff's format. */
export function formatPython(text: string): string {
  return new Workspace(readSettings(), PositionEncoding.Utf16).format(text);
}

/** Returns what is wrong with the code, one line for each finding. With `isWriting` the files are formatted first. */
export function checkPython({ isWriting }: { readonly isWriting: boolean }): readonly string[] {
  const workspace = new Workspace(readSettings(), PositionEncoding.Utf16);
  const files = listFiles("clients/python").filter((path) => path.endsWith(".py"));
  return files.flatMap((path) => {
    const file = resolve(root, path);
    const text = readFileSync(file, "utf8");
    const formatted = workspace.format(text);
    if (isWriting && formatted !== text) writeFileSync(file, formatted);
    const found = (workspace.check(isWriting ? formatted : text) as readonly Found[])
      .filter(({ code }) => !isIgnored(relative(clientFolder, file), code ?? ""))
      .map(({ code, message, start_location: { row } }) => `${path}:${row} ${code} ${message}`);
    return formatted === text || isWriting ? found : [`${path} is not formatted`, ...found];
  });
}

/** Whether a rule is off for a file. Ruff itself applies these settings only to files that it opens. */
function isIgnored(path: string, code: string): boolean {
  return Object.entries(readSettings().lint["per-file-ignores"]).some(
    ([glob, rules]) => matchesGlob(path, glob) && rules.some((rule) => code.startsWith(rule)),
  );
}

function readSettings(): Settings {
  const program =
    "import json, tomllib; print(json.dumps(tomllib.load(open('pyproject.toml', 'rb'))['tool']['ruff']))";
  settings ??= JSON.parse(
    execFileSync(python, ["-c", program], { cwd: clientFolder, encoding: "utf8" }),
  ) as Settings;
  return settings;
}

if (import.meta.main) {
  const found = checkPython({ isWriting: process.argv.includes("--write") });
  process.stdout.write(found.map((line) => `${line}\n`).join(""));
  process.exitCode = found.length === 0 ? 0 : 1;
}
