/** Examples of fields and parameters. Most are from the sample responses, which tests compare with their schemas. */
import type { JsonSchema } from "./api-document.ts";
import notes from "./notes.json" with { type: "json" };
import sampleAnswers from "./sample-answers.json" with { type: "json" };

/**
 * `alike`: the field whose sample is also an example of these fields and parameters. `examples`: values that no sample
 * has, or that explain more.
 */
const alike: Readonly<Record<string, string>> = notes.alike;
const others: Readonly<Record<string, unknown>> = notes.examples;

const examples = examplesByName();

/** Returns the example of a schema, or else one of its choices or a value of the field or parameter of this name. */
export function getExample(name: string, schema: JsonSchema): unknown {
  const {
    type,
    examples: ownExamples,
    const: only,
    enum: choices,
    default: usual,
    items,
    anyOf,
  } = schema;
  // The last shape of a union is often `null`.
  if (anyOf?.[0] !== undefined) return getExample(name, anyOf[0]);
  // The default of a parameter shows less than another choice.
  const choice = ownExamples?.[0] ?? only ?? choices?.find((one) => one !== usual);
  if (choice !== undefined) return choice;
  if (type === "boolean") return others[name] ?? true;
  const found = usual ?? examples.get(name);
  if (type === "integer" || type === "number") return typeof found === "number" ? found : 1;
  if (items === undefined) return type === "object" ? undefined : found;
  if (Array.isArray(found)) return found;
  const item = getExample(name, items);
  // A number of things can have the name of their list.
  const isNumberItem = items.$ref !== undefined && typeof item === "number";
  return item === undefined || isNumberItem ? undefined : [item];
}

function examplesByName(): ReadonlyMap<string, unknown> {
  const found = new Map(Object.entries(others));
  for (const [name, value] of fieldsIn(sampleAnswers))
    if (typeof value !== "object" && !found.has(name)) found.set(name, value);
  for (const [name, names] of Object.entries(alike))
    for (const other of names.split(" ")) found.set(other, found.get(name));
  return found;
}

function* fieldsIn(value: unknown): Generator<readonly [name: string, value: unknown]> {
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    yield [name, inner];
    yield* fieldsIn(inner);
  }
}
