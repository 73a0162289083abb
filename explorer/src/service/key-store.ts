/** Where the key is kept: in this tab, and on this device if asked. Open tabs of this site pass it on to new ones. */
import { rootPath } from "../routing/paths.ts";

/** Services below several paths of one site have keys of their own. */
const storedName = rootPath === "/" ? "oddwire-key" : `oddwire-key ${rootPath}`;

type Message =
  | { readonly type: "request" }
  | { readonly type: "key"; readonly key: string }
  | { readonly type: "replaced"; readonly key: string; readonly by: string }
  | { readonly type: "signed-out" };

const channel = new BroadcastChannel(storedName);

/** How long a new tab waits for another tab's key. */
const answerMs = 300;

/** Returns the key of this tab or of this device; `null` if there is none. */
export function readKey(): string | null {
  return sessionStorage.getItem(storedName) ?? localStorage.getItem(storedName);
}

/** Returns the key of another tab, which has until `answerMs` to send it; `null` if there is none. */
export async function requestKey(): Promise<string | null> {
  return new Promise((resolve) => {
    const end = (key: string | null): void => {
      channel.removeEventListener("message", listen);
      resolve(key);
    };
    const listen = ({ data }: MessageEvent<Message>): void => {
      if (data.type === "key") end(data.key);
    };
    channel.addEventListener("message", listen);
    send({ type: "request" });
    setTimeout(() => end(null), answerMs);
  });
}

/** Keeps a key in this tab, and on this device if `isRemembered`. */
export function keepKey(key: string, { isRemembered = false } = {}): void {
  sessionStorage.setItem(storedName, key);
  if (isRemembered) localStorage.setItem(storedName, key);
}

/** Keeps the new value of a key in every place and in every tab that has the old one. */
export function replaceStored(key: string, by: string): void {
  sessionStorage.setItem(storedName, by);
  if (localStorage.getItem(storedName) === key) localStorage.setItem(storedName, by);
  send({ type: "replaced", key, by });
}

/** Removes a key that the service has refused. Other keys stay. */
export function dropKey(key: string | null): void {
  sessionStorage.removeItem(storedName);
  if (localStorage.getItem(storedName) === key) localStorage.removeItem(storedName);
}

/** Removes the key from this device and from all tabs. */
export function signOutEverywhere(): void {
  sessionStorage.removeItem(storedName);
  localStorage.removeItem(storedName);
  send({ type: "signed-out" });
}

/** Answers other tabs, and reports what they do to the key. Called once. */
export function watchTabs(tab: {
  readonly key: () => string | null;
  readonly onReplaced: (key: string, by: string) => void;
  readonly onSignedOut: () => void;
}): void {
  channel.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    const key = tab.key();
    if (data.type === "request" && key !== null) send({ type: "key", key });
    if (data.type === "replaced") tab.onReplaced(data.key, data.by);
    if (data.type === "signed-out") tab.onSignedOut();
  });
}

function send(message: Message): void {
  channel.postMessage(message);
}
