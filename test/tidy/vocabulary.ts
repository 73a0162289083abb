/**
 * Words that this project does not use, each with the term to write instead. A reader who knows blockchains,
 * databases and HTTP should not have to learn words that only this project uses.
 */
import { blankOut } from "./blank-out.ts";
import type { SourceFile } from "./project-files.ts";

/** A pattern to search for in prose, and the term to use. */
export type BannedWord = { readonly pattern: RegExp; readonly write: string };

const britishSpelling =
  /\b(?:colour|behaviour|honour|favour|neighbour|licence|centre|artefact|judgement|cancelled\b|cancelling|labelled|modelled|signalled|analyse[ds]?\b|(?:normal|serial|synchron|final|organ|recogn|optim|initial|minim|maxim|summar|real|author|sanit|categor|general|standard|priorit|random)is(?:e|ing|ation))/i;

/** Words banned from comments, strings and Markdown. */
export const bannedWords: readonly BannedWord[] = [
  { pattern: /\b(?:tells?|telling|told)\b/i, write: "report, return, send, show, log, emit" },
  { pattern: /\bheld blocks?\b/i, write: "unfinalized blocks, head buffer" },
  { pattern: /\b(?:takes?|took|taken|taking) back\b|\bunw[io]u?nd\w*/i, write: "revert" },
  { pattern: /\bmarkers?\b|\bvouch\w*/i, write: "commit record, commit" },
  { pattern: /\bnews\b/i, write: "change, change feed" },
  { pattern: /(?<!content-)\bdigests?\b/i, write: "delta" },
  { pattern: /\bstretch\w*/i, write: "range, interval" },
  { pattern: /\bdepots?\b|\bshel(?:f|ves)\b/i, write: "key-value store, table" },
  { pattern: /\bready answers?\b|\bfast lanes?\b/i, write: "cached response, fast path" },
  { pattern: /\banswer[ -]makers?\b/i, write: "single flight" },
  { pattern: /\b(?:let|lets|letting) go\b/i, write: "evict, release, close" },
  { pattern: /\bdoubt\w*/i, write: "mismatch, unverified" },
  { pattern: /(?<!false )\balarms?\b/i, write: "warning" },
  { pattern: /\blift(?:s|ed|ing)? (?:a|the|an|its|every|all) (?:IP )?block/i, write: "unblock" },
  { pattern: /\bput(?:s|ting)? right\b|\bmend(?:s|ed|ing)?\b/i, write: "repair, fix" },
  { pattern: /\banew\b|\bafresh\b/i, write: "again, from scratch" },
  { pattern: /\bby itself\b|\bof itself\b/i, write: "automatically" },
  { pattern: /\bat once\b/i, write: "immediately, at the same time" },
  { pattern: /\bbeside\b/i, write: "next to, with" },
  { pattern: /\bwhere (?:\w+ ){1,4}stands?\b/i, write: "where it is, its position" },
  { pattern: /\b99 of 100\b|\bhalf within\b/i, write: "p99, p50" },
  { pattern: /\bcatalogues?\b/i, write: "market metadata" },
  { pattern: /\brow files?\b|\bknown texts?\b/i, write: "spool file, string table" },
  { pattern: /\bdata folders?\b/i, write: "data directory" },
  { pattern: /\bread(?:s|ing)? ahead\b/i, write: "prefetch" },
  { pattern: britishSpelling, write: "the US spelling" },
  { pattern: /\bwhoever\b|\bsomebody\b|\bnobody\b/i, write: "the operator, a client, no one" },
];

/** Words banned as parts of identifiers and file names. */
const bannedParts =
  /^(?:asked|heard|noted|told|tell|tells|telling|unwind|unwound|vouch|marker|markers|stretch|stretches|depot|shelf|shelves|doubt|doubts|doubted|alarm|alarms|anew|catalogue)$/i;

/** Names that end in `Of` and are not ours, or that read as a sentence. All others are `getX`, `toX` or `findX`. */
const namesInOf =
  /^(?:allOf|anyOf|asOf|indexOf|isOf|isRefundOf|lastIndexOf|lastOf|leftOf|oneOf|setPrototypeOf|valueOf)$/;

function isBannedName(name: string): boolean {
  if (/[a-z0-9]Of$/.test(name) && /^[a-z]/.test(name)) return !namesInOf.test(name);
  return getParts(name.replace(/false_?alarms?/i, "")).some((part) => bannedParts.test(part));
}

/** Returns `path:line word: write ...` for each banned word in the prose of Markdown, comments and strings. */
export function findBannedWords(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) =>
    toProse(file).flatMap((line, index) =>
      bannedWords.flatMap(({ pattern, write }) => {
        const found = pattern.exec(line)?.[0];
        return found === undefined ? [] : [`${file.path}:${index + 1} "${found}": write ${write}`];
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

/** The lines of Markdown without code blocks, or of TypeScript with its code replaced by spaces. */
function toProse({ path, text }: SourceFile): readonly string[] {
  if (path.endsWith(".md")) return text.replace(/`[^`\n]*`/g, "").split("\n");
  const blank = blankOut(text);
  return Array.from(text, (character, at) =>
    character === "\n" || blank[at] === " " ? character : " ",
  )
    .join("")
    .split("\n");
}

function getParts(name: string): readonly string[] {
  return name.split(/_|(?<=[a-z0-9])(?=[A-Z])/);
}
