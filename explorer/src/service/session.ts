/** The session of this tab: its key, the client that sends it, and whether the service accepts it. */
import { computed, signal } from "@preact/signals";
import type { GetMetrics, Meta } from "../../../clients/typescript/src/api.ts";
import { wait } from "../../../clients/typescript/src/backoff.ts";
import { OddwireClient } from "../../../clients/typescript/src/client.ts";
import { dropFragment } from "../routing/location.ts";
import { rootPath } from "../routing/paths.ts";
import { type Failure, toFailure } from "./failure.ts";
import {
  dropKey,
  keepKey,
  readKey,
  replaceStored,
  requestKey,
  signOutEverywhere,
  watchTabs,
} from "./key-store.ts";
import { fetchWhenAllowed, forgetRefusal } from "./limited-fetch.ts";

type Metrics = GetMetrics["answer"];

const pulseMs = 4000;
const outageMs = 1500;
/** The interval without a key. Requests then count by IP, whose limit is low. */
const publicPulseMs = 15_000;
/** How long the stream of one page stays open for the next page. */
const streamIdleMs = 15_000;

const key = signal<string | null>(null);
const generation = signal(0);

/** The client of this tab, a new one whenever the key changes. It does not retry: pages retry, and show it. */
export const client = computed(
  () =>
    new OddwireClient({
      url: location.origin + rootPath,
      ...(key.value === null ? {} : { key: key.value }),
      fetch: fetchWhenAllowed,
      backoff: { attempts: 1, firstWaitMs: 500, longestWaitMs: 5000 },
      streamIdleMs,
    }),
);

/** `checking` until the service has answered; `locked` while the tab has no key that the service accepts. */
export const access = signal<
  | { readonly state: "checking"; readonly failure: Failure | null }
  | { readonly state: "locked"; readonly isRefused: boolean }
  | { readonly state: "open" }
>({ state: "checking", failure: null });

/** The metrics that the service returned last. */
export const metrics = signal<Metrics | null>(null);

/** How fresh the answers are, for tabs that may not read the metrics; `null` otherwise. */
export const freshness = signal<Meta | null>(null);

/** Why the service does not answer now; `null` while it does. */
export const outage = signal<Failure | null>(null);

export const chainId = computed(() => metrics.value?.indexer.chain_id ?? null);
/** Whether the service has order books. Without metrics, their panel finds out. */
export const hasBooks = computed(() =>
  metrics.value === null ? freshness.value !== null : metrics.value.books !== null,
);
export const isPublic = computed(() => key.value === null);
/** Whether the service has answered this tab without a key. */
export const isReadingPublic = signal(false);
/** Whether the service still backfills, or has indexed nothing yet. */
export const isCatchingUp = computed(() => {
  const indexer = metrics.value?.indexer;
  if (indexer === undefined) return freshness.value?.indexed_block === null;
  return indexer.backfill !== null || indexer.indexed_block === null;
});

/** The scope that the key names; `null` without a key. */
export const scope = computed(() => /^ow_(read|write|admin)_/.exec(key.value ?? "")?.[1] ?? null);

/** Returns whether the key in use begins with this prefix. */
export function isOwnKey(prefix: string): boolean {
  return key.value?.startsWith(prefix.replace(/[….]+$/, "")) === true;
}

/** Takes the key from the address, the tab, the device or another tab, and starts to follow the service. */
export async function openSession(): Promise<void> {
  const given = takeGivenKey();
  if (given !== null) keepKey(given);
  watchTabs({
    key: () => (access.value.state === "open" ? key.value : null),
    onReplaced: (before, by) => {
      if (key.value !== before) return;
      keepKey(by);
      key.value = by;
    },
    onSignedOut: () => startWith(null),
  });
  addEventListener("hashchange", () => {
    const later = takeGivenKey();
    if (later !== null) useKey(later);
  });
  const own = generation.value;
  const stored = readKey() ?? (await requestKey());
  if (own !== generation.value) return;
  if (stored !== null) keepKey(stored);
  key.value = stored;
  await followService();
}

/** Reads the metrics; `null` without a key, if the service keeps them from the public. */
async function readMetrics(): Promise<Metrics | null> {
  try {
    return await client.value.metrics();
  } catch (thrown) {
    if (isPublic.value && toFailure(thrown).kind === "key") return null;
    throw thrown;
  }
}

/** Removes the key from the address and returns it; `null` if there is none. */
function takeGivenKey(): string | null {
  const [, given = null] = /^#key=([A-Za-z0-9_]+)$/.exec(location.hash) ?? [];
  if (given !== null) dropFragment();
  return given;
}

/** Uses another key, which is kept on this device if `isRemembered`. */
export function useKey(value: string, options: { readonly isRemembered?: boolean } = {}): void {
  keepKey(value, options);
  startWith(value);
}

/** Removes the key from all tabs and from this device. */
export function signOut(): void {
  signOutEverywhere();
  startWith(null);
}

/** Reads without a key. */
export function readPublic(): void {
  startWith(null);
}

function startWith(value: string | null): void {
  if (value === null) dropKey(key.value);
  key.value = value;
  freshness.value = null;
  forgetRefusal();
  access.value = { state: "checking", failure: null };
  generation.value += 1;
  void followService();
}

/** Replaces the key of all tabs with its new value. The pages stay as they are. */
export function replaceKey(value: string): void {
  if (key.value !== null) replaceStored(key.value, value);
  key.value = value;
}

/** Asks for another key after the service refused the one in use, or required one. */
export function lock(): void {
  // Several requests can fail for the same refused key.
  if (access.value.state === "locked") return;
  const isRefused = key.value !== null;
  dropKey(key.value);
  key.value = null;
  askForKey(isRefused);
}

/** Shows the key form until a key is given. Meanwhile the service is not followed: its answer would close the form. */
export function askForKey(isRefused = false): void {
  generation.value += 1;
  access.value = { state: "locked", isRefused };
}

/** Reads the metrics, or what is public instead, again and again. This checks the key, and shows whether and how the service works. */
async function followService(): Promise<void> {
  const own = generation.value;
  while (own === generation.value) {
    if (!document.hidden || access.value.state === "checking") await beat(own);
    await wait(pauseMs(), undefined);
  }
}

function pauseMs(): number {
  if (outage.value !== null) return Math.max(outage.value.retryMs ?? 0, outageMs);
  return isPublic.value ? publicPulseMs : pulseMs;
}

async function beat(own: number): Promise<void> {
  try {
    const read = freshness.value === null ? await readMetrics() : null;
    const meta = read === null ? (await client.value.markets({ limit: 1 }).page()).meta : null;
    if (own !== generation.value) return;
    metrics.value = read;
    freshness.value = meta;
    outage.value = null;
    isReadingPublic.value ||= key.value === null;
    access.value = { state: "open" };
  } catch (thrown) {
    if (own !== generation.value) return;
    const failure = toFailure(thrown);
    if (failure.kind === "key") return lock();
    outage.value = failure;
    if (access.value.state === "checking") access.value = { state: "checking", failure };
  }
}

/** Saves an answer of the service as a file. Throws an error with the message of the service. */
export async function fetchFile(url: string, name: string): Promise<void> {
  const headers: Record<string, string> = key.value === null ? {} : { "X-API-Key": key.value };
  const response = await fetchWhenAllowed(url, { headers });
  if (!response.ok) {
    const answer = (await response.json()) as { readonly error: { readonly message: string } };
    throw new Error(answer.error.message);
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
