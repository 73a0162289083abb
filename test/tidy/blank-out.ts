/** A slash after one of these starts a regular expression. After anything else it divides. */
const beforeRegex = /(?:^|[-(,=:[!&|?{};+*%<>~^]|\b(?:return|case|typeof|of|in))\s*$/;

/**
 * Replaces the content of comments, strings, templates and regular expressions with spaces, so that
 * rules about code can be plain patterns. Lines and columns stay the same. Code in the `${}` of a
 * template is kept.
 */
export function blankOut(source: string): string {
  const out = source.split("");
  /** For each open `${`, the number of open braces in it. */
  const templates: number[] = [];
  let at = 0;
  while (at < out.length) {
    const two = source.slice(at, at + 2);
    const one = source.charAt(at);
    const depth = templates.at(-1);
    if (two === "//") at = blankTo(out, at, getEnd(source, "\n", at));
    else if (two === "/*") at = blankTo(out, at, getEnd(source, "*/", at + 2) + 2);
    else if (one === '"' || one === "'") at = blankTo(out, at + 1, endOfString(source, at)) + 1;
    else if (one === "`") at = openTemplate(at + 1);
    else if (one === "}" && depth === 0) {
      templates.pop();
      at = openTemplate(at + 1);
    } else if (one === "/" && isRegexStart(out, at)) at = blankTo(out, at, endOfRegex(source, at));
    else {
      if (depth !== undefined && one === "{") templates.push((templates.pop() ?? 0) + 1);
      if (depth !== undefined && one === "}") templates.push((templates.pop() ?? 0) - 1);
      at += 1;
    }
  }
  return out.join("");

  /** Blanks the text of a template from `from` to its end or its next `${`. */
  function openTemplate(from: number): number {
    let end = from;
    while (end < source.length && source[end] !== "`" && source.slice(end, end + 2) !== "${")
      end += source[end] === "\\" ? 2 : 1;
    blankTo(out, from, end);
    if (source[end] === "`") return end + 1;
    templates.push(0);
    return end + 2;
  }
}

function isRegexStart(out: readonly string[], at: number): boolean {
  return beforeRegex.test(out.slice(Math.max(0, at - 80), at).join(""));
}

function getEnd(source: string, mark: string, from: number): number {
  const end = source.indexOf(mark, from);
  return end < 0 ? source.length : end;
}

function endOfString(source: string, start: number): number {
  let end = start + 1;
  while (end < source.length && source[end] !== source[start]) end += source[end] === "\\" ? 2 : 1;
  return end;
}

/** Returns the end of a regular expression. A slash in a character class does not end it. */
function endOfRegex(source: string, start: number): number {
  let isInClass = false;
  for (let at = start + 1; at < source.length; at += 1) {
    const one = source.charAt(at);
    if (one === "\\") at += 1;
    else if (one === "[") isInClass = true;
    else if (one === "]") isInClass = false;
    else if (one === "/" && !isInClass) return at + 1;
  }
  return source.length;
}

function blankTo(out: string[], from: number, to: number): number {
  for (let at = from; at < to && at < out.length; at += 1) if (out[at] !== "\n") out[at] = " ";
  return to;
}

/** Whether every bracket of blanked code is closed by a bracket of its kind. */
export function isBalanced(code: string): boolean {
  const closers: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };
  const open: string[] = [];
  for (const [one] of code.matchAll(/[()[\]{}]/g)) {
    const closer = closers[one];
    if (closer !== undefined) open.push(closer);
    else if (open.pop() !== one) return false;
  }
  return open.length === 0;
}
