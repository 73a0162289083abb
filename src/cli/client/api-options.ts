import { readFileSync } from "node:fs";
import { readClientConfig } from "../../base/config/config.ts";
import { toError } from "../../base/errors.ts";
import { type Option, UsageError, type Words } from "../command.ts";

/** Options that say which service to call, and with which key. */
export const apiOptions = {
  url: {
    value: "URL",
    description: "Of the service (default ODDWIRE_URL, else http://127.0.0.1:8080)",
  },
  key: { value: "KEY", description: "An API key (default ODDWIRE_API_KEY)" },
  "key-file": {
    value: "PATH",
    description: "A file with the API key, which is then not seen in the list of processes",
  },
} satisfies Readonly<Record<string, Option>>;

/** The service to call. Throws `UsageError` without a key or with an address that is none. */
export function readApi(words: Words): { url: string; key: string } {
  return { url: readUrl(words), key: readKey(words) };
}

/** The address alone, for what needs no key. */
export function readUrl(words: Words): string {
  const url = words.text("url") ?? readClientConfig().url;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new UsageError("--url is an http or https address");
  return url;
}

function readKey(words: Words): string {
  const [key, path] = [words.text("key"), words.text("key-file")];
  if (key !== null && path !== null) throw new UsageError("give --key or --key-file, not both");
  if (key !== null) return key;
  if (path === null) {
    const fromEnvironment = readClientConfig().key;
    if (fromEnvironment !== null) return fromEnvironment;
    throw new UsageError("an API key is required: --key, --key-file or ODDWIRE_API_KEY");
  }
  try {
    return readFileSync(path, "utf8").trim();
  } catch (thrown) {
    throw new UsageError(`--key-file cannot be read: ${toError(thrown).message}`);
  }
}
