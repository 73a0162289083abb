const [comma, bracket, brace] = [0x2c, 0x5b, 0x7b];

/** Values are counted in texts of more characters. */
const countedMin = 2 ** 20;
/** The fewest characters for each value. Nodes and the venue send about 10 and more. */
const charactersPerValueMin = 6;

/**
 * Parses a text as JSON. Throws when it is not JSON. Also throws when it is long and has far more values than any
 * response of a node or of the venue. 60 MB of empty arrays would take gigabytes.
 */
export function parseJson(text: string): unknown {
  if (text.length > countedMin && countValues(text) * charactersPerValueMin > text.length) {
    throw new SyntaxError("the JSON has too many values for its length");
  }
  return JSON.parse(text);
}

/** Parses a text like `parseJson`; `null` where that throws. */
export function tryParseJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

/** Whether a JSON value is an object, not an array. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Counts the characters that begin or separate values: about as many as there are values. */
function countValues(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === comma || code === bracket || code === brace) count += 1;
  }
  return count;
}
