import type { JsonSchema } from "./api-document.ts";
import { type Html, html } from "./html.ts";

/** What a value is, in a few words; components are links to where they are described. */
export function typeText(schema: JsonSchema): Html {
  const { $ref, anyOf, items, maxItems, patternProperties, properties } = schema;
  if ($ref !== undefined) {
    const name = nameOf($ref);
    return html`<a href="#${name}">${name}</a>`;
  }
  if (anyOf !== undefined) return joined(anyOf.map(typeText), " or ");
  if (items !== undefined) {
    return html`list${maxItems === undefined ? "" : ` of up to ${maxItems}`}: ${typeText(items)}`;
  }
  if (properties !== undefined) {
    const fields = Object.entries(properties);
    const texts = fields.map(([name, field]) => html`${name}: ${typeText(field)}`);
    return html`{ ${joined(texts, ", ")} }`;
  }
  if (patternProperties !== undefined) {
    return html`by name: ${Object.values(patternProperties).map(typeText)}`;
  }
  return html`${plainText(schema)}`;
}

/** The name of what a pointer points to. */
export function nameOf($ref: string): string {
  return $ref.slice($ref.lastIndexOf("/") + 1);
}

/** A value without parts: what it may be, and what it is when not given. Patterns are for tools. */
function plainText(schema: JsonSchema): string {
  const { enum: values, const: value, default: byDefault, type = "anything" } = schema;
  const { minimum, maximum, maxLength, format } = schema;
  const range = [
    [type].flat().join(" or "),
    ...(minimum === undefined ? [] : [`from ${minimum}`]),
    ...(maximum === undefined ? [] : [`to ${maximum}`]),
    ...(maxLength === undefined ? [] : [`of up to ${maxLength} characters`]),
  ].join(" ");
  return [
    value ?? values?.join(" | ") ?? range,
    ...(format === undefined ? [] : [format]),
    ...(byDefault === undefined ? [] : [`default ${byDefault}`]),
  ].join(", ");
}

function joined(parts: readonly Html[], separator: string): Html {
  return html`${parts.map((part, index) => (index === 0 ? part : html`${separator}${part}`))}`;
}
