import type { TSchema } from "typebox";
import type { JsonSchema, Parameter, Reference } from "./api-document.ts";
import { components } from "./components.ts";

const names = new Map(Object.entries(components).map(([name, schema]) => [schema, name]));

/** All components that schemas refer to, by name. */
export function describeComponents(): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(components).map(([name, schema]) => [name, describeOnce(schema)]),
  );
}

/** A schema of ours as plain JSON Schema: a reference when it is a component. */
export function describeSchema(schema: TSchema): JsonSchema {
  const name = names.get(schema);
  return name === undefined ? describeOnce(schema) : refTo("schemas", name);
}

/** A pointer to a component of any sort. */
export function refTo(sort: string, name: string): Reference & JsonSchema {
  return { $ref: `#/components/${sort}/${name}` };
}

/** A parameter; what is said of it stands next to its schema. */
export function describeParameter(
  name: string,
  schema: TSchema,
  place: { readonly in: "path" | "query"; readonly isRequired: boolean },
): Parameter {
  const { description, ...rest } = describeOnce(schema);
  const sent = description ?? rest.items?.description;
  return {
    name,
    in: place.in,
    required: place.isRequired && rest.default === undefined,
    ...(sent === undefined ? {} : { description: sent }),
    schema: rest,
    ...(rest.items === undefined ? {} : { style: "form" as const, explode: false }),
  };
}

/** Keywords with `~` are for our own reader of parameters; what it expects is worth reporting. */
function describeOnce(schema: TSchema): JsonSchema {
  const { "~expected": expected }: { "~expected"?: string } = schema;
  const keywords = Object.entries(schema).filter(([keyword]) => !keyword.startsWith("~"));
  const described: JsonSchema = {
    ...(expected === undefined ? {} : { description: expected }),
    ...Object.fromEntries(keywords.map(([name, value]) => [name, describeKeyword(name, value)])),
  };
  const { anyOf, ...rest } = described;
  const values = (anyOf ?? []).flatMap((choice) => choice.const ?? []);
  return withType(values.length === anyOf?.length ? { ...rest, enum: values } : described);
}

function describeKeyword(keyword: string, value: unknown): unknown {
  switch (keyword) {
    case "properties":
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

/** Says the type of an enumeration too: many readers of such documents want it. */
function withType(schema: JsonSchema): JsonSchema {
  if (schema.enum === undefined) return schema;
  const isText = schema.enum.every((value) => typeof value === "string");
  return { type: isText ? "string" : "integer", ...schema };
}
