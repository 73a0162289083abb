import type { TObject, TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { assert } from "../assert.ts";
import { webLimits } from "../config/limits.ts";
import { AppError, type ErrorDetail } from "../errors.ts";
import {
  type DescribeId,
  describeWrongId,
  truncate,
  unknownName,
  wrongValue,
} from "../near-name.ts";

/** The source of parameters. A path and a query string contain texts; a body and a frame of the stream JSON values. */
type Source = "path" | "query" | "body" | "frame";

/** Converts input of a client to the values of a schema. Throws `VALIDATION_ERROR` with all faults. */
type Reader = (input: unknown) => Readonly<Record<string, unknown>>;

/** Converts one value; returns `undefined` when it is not valid. */
type ValueReader = (raw: unknown) => unknown;

type Field = {
  readonly name: string;
  readonly isRequired: boolean;
  readonly read: ValueReader;
  /** Reads one item of a list; `null` when the value is not a list. */
  readonly readItem: ValueReader | null;
  /** The form of a valid value, worded to follow "must be". */
  readonly expected: string;
  /** All valid values if the schema lists them; otherwise empty. */
  readonly choices: readonly string[];
};

/** The keywords of JSON Schema that parameters use, and two more for parsed texts (see `parsedText`). */
type Keywords = {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly items?: TSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly "~parse"?: (text: string) => unknown;
  readonly "~expected"?: string;
};

/**
 * Compiles the schema of a path, query string, body or frame. Unknown, repeated and malformed parameters are errors.
 * In texts, numbers are plain decimals, booleans are `true` or `false`, and lists are separated by commas.
 * A query string whose schema has `additionalProperties` is not read: it is for the page that the route serves.
 * `path` is the prefix of field names in errors. `describe` says what an id of the wrong form is.
 */
export function compileReader(
  schema: TObject,
  source: Source,
  {
    path = "",
    describe,
  }: { readonly path?: string; readonly describe?: DescribeId | undefined } = {},
): Reader {
  const required = new Set<string>(schema.required);
  const defaults: Record<string, unknown> = {};
  const fields = new Map<string, Field>();
  for (const [name, property] of Object.entries(schema.properties)) {
    const keywords: Keywords = property;
    const isRequired = required.has(name) && keywords.default === undefined;
    const isJson = source === "body" || source === "frame";
    const getReader = isJson ? jsonReader : textReader;
    const read = isObject(property)
      ? compileReader(property, source, { path: `${path}${name}.`, describe })
      : getReader(property);
    const readItem = keywords.items === undefined ? null : getReader(keywords.items);
    const items: Keywords = keywords.items ?? {};
    const [expected, choices] = [getExpected(property), keywords.enum ?? items.enum ?? []];
    fields.set(name, { name, isRequired, read, readItem, expected, choices });
    if (keywords.default !== undefined) defaults[name] = keywords.default;
  }
  const readAll = (given: Iterable<readonly [string, unknown]>) =>
    readFields({ fields, defaults, path, describe }, given);
  switch (source) {
    case "query":
      if ("additionalProperties" in schema) return () => defaults;
      return (text) => readAll(queryPairs(String(text)));
    case "path":
      return (params) => readAll(Object.entries(params as Record<string, string>));
    case "body":
      // Fastify passes `null` for a missing body. A field that is `null` counts as not given.
      return (body) =>
        readAll(
          getPairs(body === null ? {} : body, "body").filter(
            ([name, raw]) => raw !== null || !fields.has(name),
          ),
        );
    case "frame":
      return (frame) => readAll(getPairs(frame, path.replace(/\.$/, "") || "frame"));
  }
}

function readFields(
  schema: {
    readonly fields: ReadonlyMap<string, Field>;
    readonly defaults: Readonly<Record<string, unknown>>;
    readonly path: string;
    readonly describe: DescribeId | undefined;
  },
  given: Iterable<readonly [string, unknown]>,
): Record<string, unknown> {
  const { fields, defaults, path, describe } = schema;
  const values: Record<string, unknown> = { ...defaults };
  const faults: ErrorDetail[] = [];
  const seen = new Set<string>();
  for (const [name, raw] of given) {
    const field = fields.get(name);
    const value = field?.read(raw);
    const parameter = path + truncate(name);
    if (field === undefined)
      faults.push({ parameter, issue: unknownName(name, [...fields.keys()]) });
    else if (seen.has(name)) faults.push({ parameter, issue: "is given more than once" });
    else if (value === undefined) {
      const { expected, choices } = field;
      const fault = findFault(raw, field);
      const isOneItem = !Array.isArray(fault) && field.readItem?.(fault) !== undefined;
      const advice = isOneItem
        ? "; put it into a list"
        : describeWrongId(fault, expected, describe);
      faults.push({ parameter, issue: wrongValue(fault, expected, choices) + advice });
    } else values[name] = value;
    seen.add(name);
    if (faults.length >= webLimits.errorDetailsMax) break;
  }
  for (const { name, isRequired, expected } of fields.values())
    if (isRequired && !seen.has(name))
      faults.push({ parameter: path + name, issue: `is required: ${expected}` });
  if (faults.length > 0) throw validationError(faults);
  return values;
}

/** Returns the part of a wrong value to quote: of a list the first wrong item, which a long text could hide. */
function findFault(raw: unknown, { readItem }: Field): unknown {
  if (readItem === null) return raw;
  const items: readonly unknown[] = typeof raw === "string" ? raw.split(",") : [raw].flat();
  const wrong = items.find((item) => readItem(item) === undefined) ?? "";
  return wrong === "" ? raw : wrong;
}

/** Returns a `VALIDATION_ERROR` about one parameter; also for rules between parameters. */
export function invalid(parameter: string, issue: string): AppError {
  return validationError([{ parameter, issue }]);
}

function validationError(faults: readonly ErrorDetail[]): AppError {
  const [first] = faults;
  const publicMessage = `${first?.parameter} ${first?.issue}`;
  return new AppError("VALIDATION_ERROR", { publicMessage, details: faults });
}

function* queryPairs(text: string): Generator<readonly [string, string]> {
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = equals === -1 ? pair : pair.slice(0, equals);
    const value = equals === -1 ? "" : pair.slice(equals + 1);
    yield [decode(name, name), decode(value, name)];
  }
}

function decode(text: string, parameter: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw invalid(truncate(parameter), "must be valid percent-encoded UTF-8");
  }
}

/** Returns the fields of a JSON object. Errors call the object `what`. */
function getPairs(object: unknown, what: string): [string, unknown][] {
  if (typeof object !== "object" || object === null || Array.isArray(object))
    throw invalid(what, "must be a JSON object");
  return Object.entries(object);
}

function isObject(schema: TSchema): schema is TObject {
  return "properties" in schema;
}

function textReader(schema: TSchema): ValueReader {
  const { type, items }: Keywords = schema;
  const read = jsonReader(schema);
  switch (type) {
    case "integer":
      return (text) =>
        /^(0|-?[1-9][0-9]{0,15})$/.test(String(text)) ? read(Number(text)) : undefined;
    case "boolean":
      return (text) => (text === "true" ? true : text === "false" ? false : undefined);
    case "array": {
      assert(items !== undefined, "a list parameter needs the schema of its items");
      return listReader(schema, textReader(items), (text) => String(text).split(","));
    }
    default:
      return read;
  }
}

function jsonReader(schema: TSchema): ValueReader {
  const { type, items, "~parse": parse }: Keywords = schema;
  if (parse !== undefined) return parsedReader(type, parse);
  if (type === "array" && items !== undefined)
    return listReader(schema, jsonReader(items), (raw) => (Array.isArray(raw) ? raw : null));
  const validator = Compile(schema);
  return (raw) => (validator.Check(raw) ? raw : undefined);
}

function parsedReader(type: Keywords["type"], parse: (text: string) => unknown): ValueReader {
  const takesNumbers = Array.isArray(type) && type.includes("integer");
  return (raw) => {
    if (typeof raw === "string") return parse(raw) ?? undefined;
    return takesNumbers && Number.isSafeInteger(raw)
      ? (parse(String(raw)) ?? undefined)
      : undefined;
  };
}

function listReader(
  schema: TSchema,
  readItem: ValueReader,
  split: (raw: unknown) => readonly unknown[] | null,
): ValueReader {
  const { minItems = 0, maxItems = 100 }: Keywords = schema;
  return (raw) => {
    const items = split(raw);
    if (items === null || items.length < minItems || items.length > maxItems) return undefined;
    const values = items.map(readItem);
    return values.includes(undefined) ? undefined : values;
  };
}

function getExpected(schema: TSchema): string {
  const keywords: Keywords = schema;
  if (keywords["~expected"] !== undefined) return keywords["~expected"];
  if (keywords.enum !== undefined) return `one of ${keywords.enum.join(", ")}`;
  switch (keywords.type) {
    case "object":
      return "a JSON object";
    case "boolean":
      return "true or false";
    case "integer":
      assert(keywords.maximum !== undefined, "every number that clients send has bounds");
      return `a whole number from ${keywords.minimum ?? 0} to ${keywords.maximum}`;
    case "array":
      return `a list of ${keywords.minItems ? `${keywords.minItems} to` : "up to"} ${keywords.maxItems ?? 100}, each ${getExpected(keywords.items ?? {})}`;
    default:
      return `text of ${keywords.minLength ?? 0} to ${keywords.maxLength ?? "any number of"} characters`;
  }
}
