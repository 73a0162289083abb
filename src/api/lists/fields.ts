/** Lists with the fields that a client selects. */
import { type TObject, type TSchema, Type } from "typebox";
import { invalid } from "../../base/input/compile-reader.ts";
import { isAnswerBody, WrittenJson } from "../route/response-cache.ts";
import type { Route } from "../route/route.ts";

/** The names of the fields to send; `undefined` for all. */
export type Fields = readonly string[] | undefined;

/** Adds the parameter `fields` to a route that responds with a list. Files select their columns in `row-list.ts`. */
export function withFields(route: Route): Route {
  const row = getRow(route.response);
  if (row === null) return route;
  const names = Object.keys(row.properties);
  const list = Type.Array(Type.Enum(names), { minItems: 1, maxItems: 2 * names.length });
  const querystring: TObject = Type.Object({
    ...route.querystring.properties,
    fields: Type.Optional(list),
  });
  const setting = getSetting(route.querystring);
  const handler: Route["handler"] = async (request, reply) => {
    const query = request.query as { fields: Fields } & Readonly<Record<string, unknown>>;
    const { fields } = query;
    const isOff = setting !== null && !query[setting.name];
    // Without such a parameter, optional fields are absent from some rows.
    const missing = isOff ? fields?.find((name) => !row.required?.includes(name)) : undefined;
    if (missing !== undefined)
      throw invalid("fields", `${missing} needs ${setting?.name}=${setting?.value}`);
    const body = await route.handler(request, reply);
    if (fields === undefined || !isAnswerBody(body)) return body;
    const { data } = body;
    const rows = (data instanceof WrittenJson ? JSON.parse(data.text) : data) as readonly object[];
    return { ...body, data: rows.map((one) => pickFields(one, fields)) };
  };
  return { ...route, querystring, handler };
}

/** Returns the parameter that adds the optional fields of a route's rows, and its value; `null` without one. */
function getSetting({
  properties,
}: TObject): { readonly name: string; readonly value: string } | null {
  const { enum: [choice] = [] } = (properties["include"] ?? {}) as { enum?: string[] };
  if (choice !== undefined) return { name: "include", value: choice };
  return "include_pnl" in properties ? { name: "include_pnl", value: "true" } : null;
}

/** Returns the selected part of a row, in the requested order. */
export function pickFields(row: object, fields: readonly string[]): object {
  const values = new Map(Object.entries(row));
  return Object.fromEntries(fields.map((name) => [name, values.get(name)]));
}

/** Returns the selected part of the schema of a row. */
export function pickColumns(row: TObject, fields: Fields): TObject {
  if (fields === undefined) return row;
  return Type.Object(pickFields(row.properties, fields) as TObject["properties"]);
}

/** Returns the schema of the rows of a list, with the fields of all kinds of rows; `null` when a response is no list. */
function getRow(response: TSchema): TObject | null {
  const { data } = (response as Partial<TObject>).properties ?? {};
  const { items } = (data ?? {}) as { items?: Partial<TObject> & { anyOf?: Partial<TObject>[] } };
  const shapes = items?.anyOf ?? (items === undefined ? [] : [items]);
  const properties = Object.assign({}, ...shapes.map((shape) => shape.properties));
  return Object.keys(properties).length === 0 ? null : Type.Object(properties);
}
