/** The files of the project as the tidy rules see them. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { blankOut } from "./blank-out.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Folders that tools and runs create. They are never part of the project. */
const foreign = new Set([".git", "node_modules", "dist", ".demo", ".demo-cluster"]);
/** The data directory of a service that was started in the project folder. */
const ownData = "data";

/** One import or re-export. `target` is the file within the project, or `null` for a package. */
export type Import = {
  readonly line: number;
  readonly specifier: string;
  readonly target: string | null;
  /** Whether only types are imported, so that nothing is loaded. */
  readonly isType: boolean;
};

/** A TypeScript file. `path` is relative to the project, with slashes. */
export type SourceFile = {
  readonly path: string;
  readonly text: string;
  readonly lines: readonly string[];
  /** The lines without comments, and with empty strings. */
  readonly code: readonly string[];
  readonly imports: readonly Import[];
};

/** Returns the path of every file of the project. */
export function listFiles(folder = ""): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (foreign.has(entry.name) || path === ownData) return [];
    return entry.isDirectory() ? listFiles(path) : [path];
  });
}

export function readText(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** Reads the source of the service, without tests. */
export function readSources(): SourceFile[] {
  return listFiles("src")
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
    .map(readSource);
}

export function readSource(path: string): SourceFile {
  const text = readText(path);
  const blank = blankOut(text);
  return { path, text, lines: text.split("\n"), code: blank.split("\n"), imports: getImports() };

  function getImports(): Import[] {
    const pattern = /\b(?:from|import)\s*\(?\s*(?=["'])/g;
    return [...blank.matchAll(pattern)].map((match) => {
      const start = match.index + match[0].length + 1;
      const specifier = text.slice(start, text.indexOf(text.charAt(start - 1), start));
      const line = text.slice(0, match.index).split("\n").length;
      const target = specifier.startsWith(".") ? posix.join(dirname(path), specifier) : null;
      const begun =
        blank
          .slice(0, match.index)
          .match(/\b(?:im|ex)port\b[^;]*$/g)
          ?.at(-1) ?? "";
      const isType = /^(?:im|ex)port\s+type\b/.test(begun);
      return { line, specifier, target, isType };
    });
  }
}

/** The layer of a source file: its folder in `src`, or the name of a file directly in `src`. */
export function getLayer(path: string): string {
  return path.split("/")[1]?.replace(/\.ts$/, "") ?? "";
}

/** Returns `path:line` of every line of code that matches. */
export function findCode(files: readonly SourceFile[], pattern: RegExp): string[] {
  return findLines(files, ({ code }) => code, pattern);
}

/** Returns `path:line` of every line that matches, including comments and strings. */
export function findText(files: readonly SourceFile[], pattern: RegExp): string[] {
  return findLines(files, ({ lines }) => lines, pattern);
}

function findLines(
  files: readonly SourceFile[],
  toLines: (file: SourceFile) => readonly string[],
  pattern: RegExp,
): string[] {
  return files.flatMap((file) =>
    toLines(file).flatMap((line, index) =>
      pattern.test(line) ? [`${file.path}:${index + 1} ${(file.lines[index] ?? "").trim()}`] : [],
    ),
  );
}
