const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
/** Of shorter words nearly every neighbor is another word; longer ones no one types. */
const lengthMin = 4;
const lengthMax = 32;

/** The words that one typo turns into this one: a letter too many, too few, another one, or two swapped. */
export function* withoutTypo(word: string): Generator<string, void, void> {
  const letters = Array.from(word);
  if (letters.length < lengthMin || letters.length > lengthMax) return;
  for (let at = 0; at <= letters.length; at += 1) {
    const [head, tail] = [letters.slice(0, at).join(""), letters.slice(at).join("")];
    const [first = "", second = ""] = letters.slice(at);
    const rest = tail.slice(first.length);
    if (first !== "") yield head + rest;
    if (second !== "") yield head + second + first + rest.slice(second.length);
    for (const letter of alphabet) {
      yield head + letter + tail;
      if (first !== "") yield head + letter + rest;
    }
  }
}
