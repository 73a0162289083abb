/** Texts of strangers, such as titles of markets, without characters that terminals and other programs obey. */

const outsideLines = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
const outsideTexts = /[^\P{Cc}\n\t]+/gu;
/** Control characters but the end of a line, other ends of lines, and marks that reverse the direction of text. */
const obeyed = /[^\P{Cc}\n]|[\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Returns a text as one line: each run of control characters becomes a space. Lone surrogates are replaced. */
export function toPlainLine(text: string): string {
  return text.toWellFormed().replace(outsideLines, " ");
}

/** Returns a text without control characters but `\n` and tabs. Lone surrogates are replaced. */
export function toPlainText(text: string): string {
  return text.toWellFormed().replaceAll("\r\n", "\n").replace(outsideTexts, " ");
}

/** Makes a text safe for a terminal: such characters become visible, as JSON escapes, so that JSON keeps its value. */
export function escapeForTerminal(text: string): string {
  return text.replace(
    obeyed,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
