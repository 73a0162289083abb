/** Letters that have no decomposition in Unicode, as people type them without their keyboard. */
const folded: Readonly<Record<string, string>> = {
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ħ: "h",
  ı: "i",
  æ: "ae",
  œ: "oe",
  ß: "ss",
};
const foldable = new RegExp(`[${Object.keys(folded).join("")}]`, "gu");

/** The words of a text as a search sees them: lower case, without accents, letters and digits. */
export function wordsOf(text: string): string[] {
  return text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(foldable, (letter) => folded[letter] ?? letter)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}
