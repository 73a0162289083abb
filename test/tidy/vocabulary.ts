/** US spelling and the terms of the glossary in documents, and the form of names in code. */
import type { SourceFile } from "./project-files.ts";

const britishSpelling =
  /\b(?:colour|behaviour|honour|favour|neighbour|licence|centre|artefact|judgement|cancelled\b|cancelling|labelled|modelled|signalled|analyse[ds]?\b|(?:normal|serial|synchron|final|organ|recogn|optim|initial|minim|maxim|summar|real|author|sanit|categor|general|standard|priorit|random)is(?:e|ing|ation))/i;

/** What documents do not contain, and what to write instead. */
const bannedWords: readonly { readonly pattern: RegExp; readonly write: string }[] = [
  { pattern: britishSpelling, write: "the US spelling" },
  { pattern: /\bheld blocks?\b/i, write: "unfinalized blocks, head buffer" },
  { pattern: /\bcatalogues?\b/i, write: "market metadata" },
  { pattern: /\bdata folders?\b/i, write: "data directory" },
];

/** Words banned as parts of identifiers and file names. */
const bannedParts =
  /^(?:asked|heard|noted|told|tell|tells|telling|unwind|unwound|vouch|marker|markers|stretch|stretches|depot|shelf|shelves|doubt|doubts|doubted|alarm|alarms|anew|catalogue)$/i;

/** Names that end in `Of` and are not ours, or that are a term. All others are `getX`, `toX` or `findX`. */
const namesInOf = /^(?:anyOf|asOf|indexOf|lastIndexOf|setPrototypeOf)$/;

/** Names of values that do not say what the value is. */
const vagueNames = /^(?:shown|wanted)$/;

function isBannedName(name: string): boolean {
  if (vagueNames.test(name)) return true;
  if (/[a-z0-9]Of$/.test(name)) return !namesInOf.test(name);
  return getParts(name.replace(/false_?alarms?/i, "")).some((part) => bannedParts.test(part));
}

/** Returns `path:line word: write ...` for each banned word in Markdown outside of code. */
export function findBannedWords(pages: readonly SourceFile[]): string[] {
  return pages.flatMap(({ path, text }) =>
    text
      .replace(/`[^`\n]*`/g, "")
      .split("\n")
      .flatMap((line, index) =>
        bannedWords.flatMap(({ pattern, write }) => {
          const found = pattern.exec(line)?.[0];
          return found === undefined ? [] : [`${path}:${index + 1} "${found}": write ${write}`];
        }),
      ),
  );
}

/** Returns `path:line word` for each identifier that contains a banned word. */
export function findBannedNames(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, code }) =>
    code.flatMap((line, index) =>
      (line.match(/[A-Za-z_$][\w$]*/g) ?? [])
        .filter(isBannedName)
        .map((name) => `${path}:${index + 1} ${name}`),
    ),
  );
}

function getParts(name: string): readonly string[] {
  return name.split(/_|(?<=[a-z0-9])(?=[A-Z])/);
}
