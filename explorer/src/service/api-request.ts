import { rootPath } from "../routing/paths.ts";

/** The API request behind a view. */
export type ApiRequest = {
  readonly title: string;
  readonly path: string;
  readonly query?: Readonly<
    Record<string, string | number | boolean | readonly string[] | undefined>
  >;
  /** Whether the list can be downloaded as a file: CSV, Parquet and so on. */
  readonly isBulk?: boolean;
};

export const languages = ["curl", "JavaScript", "Python"] as const;
export type Language = (typeof languages)[number];

/** Returns the URL with the parameters that are set. */
export function getUrl({ path, query = {} }: ApiRequest): string {
  const url = new URL(rootPath + path.slice(1), location.origin);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") url.searchParams.set(name, String(value));
  }
  return url.href;
}

/** Returns code that sends the request. It takes the key from the environment. */
export function toCode(request: ApiRequest, language: Language): string {
  const url = getUrl(request);
  switch (language) {
    case "curl":
      return `curl -s -H "X-API-Key: $ODDWIRE_API_KEY" \\\n  '${url}'`;
    case "JavaScript":
      return [
        `const response = await fetch(${JSON.stringify(url)}, {`,
        `  headers: { "X-API-Key": process.env.ODDWIRE_API_KEY },`,
        `});`,
        `console.log(await response.json());`,
      ].join("\n");
    case "Python":
      return [
        `import os, requests`,
        ``,
        `response = requests.get(`,
        `    ${JSON.stringify(url)},`,
        `    headers={"X-API-Key": os.environ["ODDWIRE_API_KEY"]},`,
        `)`,
        `print(response.json())`,
      ].join("\n");
  }
}
