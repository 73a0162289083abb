import type { TSchema } from "typebox";
import { parseTime } from "../http/parameters.ts";
import type { JsonSchema, Parameter, Reference } from "./api-document.ts";
import { components } from "./components.ts";
import { getExample } from "./examples.ts";
import type { LiveExamples } from "./live-examples.ts";
import notes from "./notes.json" with { type: "json" };

/**
 * Descriptions by name, of fields and of parameters. An entry `Row.name` is of a field that means something else in that
 * row; one that begins with a path is of a parameter that does there. A schema with a description needs none, nor do
 * `name_ms` next to `name` and a parameter that is like the field of its name.
 */
const {
  fields: fieldNotes,
  parameters: parameterNotes,
}: Readonly<Record<"fields" | "parameters", Readonly<Record<string, string>>>> = notes;

const formsOfTime =
  "Epoch seconds, epoch milliseconds (13 digits), RFC 3339 or a date (midnight UTC)";

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

/** Describes a parameter, with the description of its schema or the note about it. */
export function describeParameter(
  name: string,
  schema: TSchema,
  context: {
    readonly in: "path" | "query";
    readonly isRequired: boolean;
    readonly path: string;
    readonly live: LiveExamples;
  },
): Parameter {
  const described = describeOnce(schema);
  const { description: _expected, examples: _examples, ...rest } = described;
  const { description: ownDescription }: { description?: string } = schema;
  const key = `${context.path} ${name}`;
  const note = parameterNotes[key] ?? ownDescription ?? parameterNotes[name] ?? fieldNotes[name];
  const isTime = "~parse" in schema && schema["~parse"] === parseTime;
  const description = isTime ? `${note}. ${formsOfTime}` : note;
  const required = context.isRequired && rest.default === undefined;
  const sample = getExample(name, described);
  const example = context.live[key] ?? context.live[name] ?? sample;
  const isList = rest.items !== undefined;
  return {
    name,
    in: context.in,
    required,
    ...(description === undefined ? {} : { description }),
    ...(required ? { example } : { examples: { sample: { value: sample, "x-disabled": true } } }),
    schema: rest,
    ...(isList ? { style: "form" as const, explode: false } : {}),
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
    case "patternProperties":
      return Object.fromEntries(
        Object.entries(value as Record<string, TSchema>).map(([name, schema]) => [
          name,
          describeProperty(name, schema, findNote(name, owner)),
        ]),
      );
    case "anyOf":
      return (value as readonly TSchema[]).map((shape) => describeSchema(shape));
    case "items":
      return describeSchema(value as TSchema);
    default:
      return value;
  }
}

function findNote(name: string, owner: string): string | undefined {
  const note = fieldNotes[`${owner}.${name}`] ?? fieldNotes[name];
  if (note !== undefined || !name.endsWith("_ms")) return note;
  return `${name.slice(0, -3)} in Unix milliseconds`;
}

/** Describes a field. What its schema lacks is filled in, as next to a `$ref`: the note and an example. */
function describeProperty(name: string, schema: TSchema, record: string | undefined): JsonSchema {
  const described = describeSchema(schema);
  const example = getExample(name, described);
  return {
    ...(record === undefined ? {} : { description: record }),
    ...(example === undefined ? {} : { examples: [example] }),
    ...described,
  };
}
