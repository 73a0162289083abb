import type { JsonSchema, Operation, Parameter } from "./api-document.ts";

/** What is sent to an operation: where, and with which parameters and fields. */
export type Call = Pick<Operation, "security" | "requestBody"> & {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
};

/** A command that calls an endpoint; `$URL`, `$KEY` and names of values are for the shell. */
export function curlLine({ method, path, parameters, security, requestBody }: Call): string {
  const query = parameters
    .filter((parameter) => parameter.in === "query")
    .flatMap(({ name, required }) => {
      if (required) return [`${name}=${shellName(name)}`];
      return name === "limit" ? ["limit=5"] : [];
    });
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => shellName(name));
  const address = `"$URL${filled}${query.length === 0 ? "" : `?${query.join("&")}`}"`;
  const schema = requestBody?.content["application/json"]?.schema;
  const options = [
    ...(method === "get" ? [] : [`-X ${method.toUpperCase()}`]),
    ...(security.length === 0 ? [] : ['-H "X-API-Key: $KEY"']),
    ...(schema === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(exampleOf(schema))}'`]),
  ];
  return ["curl -s", ...options, address].join(" ");
}

function shellName(name: string): string {
  return `$${name.toUpperCase()}`;
}

/** Required fields, and those with a default at their default. */
function exampleOf({ properties = {}, required = [] }: JsonSchema): Record<string, unknown> {
  const shown = Object.entries(properties).filter(
    ([name, field]) => required.includes(name) || field.default !== undefined,
  );
  return Object.fromEntries(shown.map(([name, field]) => [name, field.default ?? "my script"]));
}
