import { invalid } from "./compile-reader.ts";

/** Strings, brackets and colons: enough to find the names in valid JSON. */
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/** Throws `VALIDATION_ERROR` if an object in a valid JSON text has a name twice: another reader may take the other value. */
export function refuseRepeatedNames(json: string): void {
  const repeated = repeatedName(json);
  if (repeated !== null) throw invalid(repeated.slice(0, 64), "is given more than once");
}

function repeatedName(json: string): string | null {
  const open: Set<string>[] = [];
  let last = "";
  for (const [token] of json.matchAll(tokens)) {
    if (token === "{" || token === "[") open.push(new Set());
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":") {
      // Decoded first, because the same name can be written with different escapes.
      const name = JSON.parse(last) as string;
      if (open.at(-1)?.has(name)) return name;
      open.at(-1)?.add(name);
    }
    last = token;
  }
  return null;
}
