import { readFileSync } from "node:fs";
import { readClientConfig } from "../../base/config/config.ts";
import { hasCredentials } from "../../base/config/setting.ts";
import { toError } from "../../base/errors.ts";
import { UsageError } from "../command.ts";

/** The options for the service to call and its key. */
export type ApiOptions = {
  readonly url?: string;
  readonly key?: string;
  readonly keyFile?: string;
};

/** A service, and the key to call it with. */
export type ApiAccess = { readonly url: string; readonly key: string };

/** Returns the service to call and the key. Throws `UsageError` without a key or with a malformed address. */
export function readApi(options: ApiOptions): ApiAccess {
  return { url: readUrl(options), key: readKey(options) };
}

/** Returns only the address, for calls that need no key. Throws `UsageError` when it is malformed. */
export function readUrl({ url = readClientConfig().url }: ApiOptions): string {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url) || hasCredentials(url))
    throw new UsageError("--url is an http or https address without a user name");
  return url;
}

function readKey(options: ApiOptions): string {
  const key = findKey(options);
  // Other characters, such as the end of a line in a file of two keys, cannot be sent in a header.
  if (!/^[\x21-\x7e]*$/.test(key))
    throw new UsageError("an API key is one word of ASCII characters");
  return key;
}

function findKey({ key, keyFile }: ApiOptions): string {
  if (key !== undefined) return key;
  if (keyFile === undefined) {
    const fromEnvironment = readClientConfig().key;
    if (fromEnvironment !== null) return fromEnvironment;
    throw new UsageError("an API key is required: --key, --key-file or ODDWIRE_API_KEY");
  }
  try {
    return readFileSync(keyFile, "utf8").trim();
  } catch (thrown) {
    throw new UsageError(`--key-file cannot be read: ${toError(thrown).message}`);
  }
}
