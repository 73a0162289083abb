/** Letters that Unicode does not decompose, each with the ASCII letters people type for it. */
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

/** Returns the searchable words of a text: runs of letters and digits, in lower case, without accents. */
export function toWords(text: string): string[] {
  return text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(foldable, (letter) => folded[letter] ?? letter)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
/** Lengths of words that are corrected. One typo turns a shorter word into another word; no one types longer ones. */
const typoLengthMin = 4;
const typoLengthMax = 32;

/** Returns the words that one typo turns into this one: a letter added, left out or replaced, or two swapped. */
export function withoutTypo(word: string): readonly string[] {
  const letters = Array.from(word);
  if (letters.length < typoLengthMin || letters.length > typoLengthMax) return [];
  return [...letters, ""].flatMap((first, at) => {
    const head = letters.slice(0, at).join("");
    const rest = letters.slice(at + 1).join("");
    const isEnd = at === letters.length;
    const [second = "", ...others] = letters.slice(at + 1);
    const shorterOrSwapped = isEnd ? [] : [head + rest, head + second + first + others.join("")];
    const longerOrReplaced = Array.from(alphabet).flatMap((letter) => [
      head + letter + first + rest,
      ...(isEnd ? [] : [head + letter + rest]),
    ]);
    return [...shorterOrSwapped, ...longerOrReplaced];
  });
}
