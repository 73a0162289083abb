import { posix } from "node:path";
import { isBalanced } from "./blank-out.ts";
import type { SourceFile } from "./project-files.ts";

/**
 * Returns `path:line name` of every export without a comment. The comment is directly above the export, or above the
 * export in the line before it. The comment at the top of a file also counts for its types and values, and for the
 * function or class that the file is named after.
 */
export function undocumentedExports({ path, lines, code }: SourceFile): string[] {
  const hasHead = lines[0]?.startsWith("/**") === true && !isHeadOfExport();
  const ownName = posix.basename(path, ".ts").replaceAll("-", "");
  let documentedTo = -1;
  return code.flatMap((line, index) => {
    const [, kind, name] = /^export (?:async )?(\w+)\*? (\w+)/.exec(line) ?? [];
    if (kind === undefined || name === undefined) return [];
    const isMain = kind === "type" || kind === "const" || name.toLowerCase() === ownName;
    const isReported = isBelowComment(index) || documentedTo === index - 1 || (hasHead && isMain);
    if (!isReported) return [`${path}:${index + 1} ${name}`];
    documentedTo = endOfStatement(code, index);
    return [];
  });

  function isBelowComment(index: number): boolean {
    return /\*\/\s*$/.test(lines[index - 1] ?? "");
  }

  /** Whether the comment at the top is directly above an export, so that it documents only that export. */
  function isHeadOfExport(): boolean {
    const end = lines.findIndex((line) => /\*\/\s*$/.test(line));
    return code[end + 1]?.startsWith("export ") === true;
  }
}

/** The index of the last line of the statement that begins in the line `start`, without indentation. */
function endOfStatement(code: readonly string[], start: number): number {
  let end = start;
  while (end + 1 < code.length && !isBalanced(code.slice(start, end + 1).join("\n"))) end += 1;
  while (/^\s+\S/.test(code[end + 1] ?? "")) end += 1;
  return end;
}
