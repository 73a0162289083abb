import type { TSchema } from "typebox";
import type { JsonSchema, Parameter, Reference } from "./api-document.ts";
import { components } from "./components.ts";
import { fieldNotes } from "./field-notes.ts";
import { parameterNotes } from "./parameter-notes.ts";

const names = new Map(Object.entries(components).map(([name, schema]) => [schema, name]));

/** Describes all components that schemas refer to, by name. */
export function describeComponents(): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(components).map(([name, schema]) => [name, describeOnce(schema, name)]),
  );
}

/** Returns a schema as plain JSON Schema, or a reference if it is a component. */
export function describeSchema(schema: TSchema): JsonSchema {
  const name = names.get(schema);
  return name === undefined ? describeOnce(schema) : refTo("schemas", name);
}

/** Returns a reference to a component. `sort` is its section under `components`. */
export function refTo(sort: string, name: string): Reference & JsonSchema {
  return { $ref: `#/components/${sort}/${name}` };
}

/** Describes a parameter, with the description and example from `parameter-notes.ts`. */
export function describeParameter(
  name: string,
  schema: TSchema,
  place: { readonly in: "path" | "query"; readonly isRequired: boolean; readonly path: string },
): Parameter {
  const { description: expected, ...rest } = describeOnce(schema);
  const { description: own }: { description?: string } = schema;
  const special = parameterNotes[`${place.path} ${name}`];
  const [general, shown] = special ?? parameterNotes[name] ?? [];
  const example =
    typeof shown === "number" ? Math.min(shown, rest.maximum ?? Number.POSITIVE_INFINITY) : shown;
  const description = special?.[0] ?? own ?? general ?? expected;
  const isList = rest.items !== undefined;
  return {
    name,
    in: place.in,
    required: place.isRequired && rest.default === undefined,
    ...(description === undefined ? {} : { description }),
    ...(example === undefined ? {} : { example: isList ? [example].flat() : example }),
    schema: rest,
    ...(rest.items === undefined ? {} : { style: "form" as const, explode: false }),
  };
}

/** Leaves out keywords with `~`, which are for our parameter reader, but describes a value by its `~expected`. */
function describeOnce(schema: TSchema, owner = ""): JsonSchema {
  const { "~expected": expected }: { "~expected"?: string } = schema;
  const keywords = Object.entries(schema).filter(([keyword]) => !keyword.startsWith("~"));
  const described: JsonSchema = {
    ...(expected === undefined ? {} : { description: expected }),
    ...Object.fromEntries(
      keywords.map(([name, value]) => [name, describeKeyword(name, value, owner)]),
    ),
  };
  // Many tools need the type of an enumeration too.
  return described.enum === undefined ? described : { type: "string", ...described };
}

function describeKeyword(keyword: string, value: unknown, owner: string): unknown {
  switch (keyword) {
    case "properties":
      return Object.fromEntries(
        Object.entries(value as Record<string, TSchema>).map(([name, schema]) => [
          name,
          describeProperty(schema, fieldNotes[`${owner}.${name}`] ?? fieldNotes[name]),
        ]),
      );
    case "patternProperties":
      return Object.fromEntries(
        Object.entries(value as Record<string, TSchema>).map(([name, schema]) => [
          name,
          describeSchema(schema),
        ]),
      );
    case "anyOf":
      return (value as readonly TSchema[]).map(describeSchema);
    case "items":
      return describeSchema(value as TSchema);
    default:
      return value;
  }
}

/** Describes a field. Its note fills in the description and example that its schema lacks, as next to a `$ref`. */
function describeProperty(
  schema: TSchema,
  note: (typeof fieldNotes)[string] | undefined,
): JsonSchema {
  const described = describeSchema(schema);
  if (note === undefined) return { ...exampleOf(described), ...described };
  const [description, example] = note;
  const isEmpty = example === null || (Array.isArray(example) && example.length === 0);
  return {
    description,
    ...(isEmpty || !fits(example, described) ? exampleOf(described) : { examples: [example] }),
    ...described,
  };
}

/** Returns whether the example of a note is a possible value of this field. */
function fits(example: unknown, { type, const: only, enum: values }: JsonSchema): boolean {
  if (type === "array") return Array.isArray(example);
  const all: readonly unknown[] | undefined = values ?? (only === undefined ? undefined : [only]);
  return all?.includes(example) ?? true;
}

/** Returns a default example for enumerations, flags and numbers. */
function exampleOf({ type, const: only, enum: values }: JsonSchema): Pick<JsonSchema, "examples"> {
  const choice = only ?? values?.[0];
  if (choice !== undefined) return { examples: [choice] };
  if (type === "boolean") return { examples: [true] };
  return type === "integer" || type === "number" ? { examples: [1] } : {};
}
