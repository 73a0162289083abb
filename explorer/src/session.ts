/** The key, asked for once and kept as long as the tab; and the client that speaks with it. */
import { OddwireClient } from "../../client/src/client.ts";

const storedName = "oddwire-key";

/** A key in the address (`#key=...`) is taken in and taken out of the address. */
export function takeKeyFromAddress(): void {
  const [, key] = /^#key=([A-Za-z0-9_]+)$/.exec(location.hash) ?? [];
  if (key === undefined) return;
  sessionStorage.setItem(storedName, key);
  history.replaceState(null, "", "#/");
}

/** The key of this tab; `null` when none was given yet. */
export function storedKey(): string | null {
  return sessionStorage.getItem(storedName);
}

export function storeKey(key: string): void {
  sessionStorage.setItem(storedName, key);
}

export function forgetKey(): void {
  sessionStorage.removeItem(storedName);
}

/** The service this page comes from, as the key of this tab. */
export function openClient(key: string | null): OddwireClient {
  return new OddwireClient({ url: location.origin, ...(key === null ? {} : { key }) });
}
