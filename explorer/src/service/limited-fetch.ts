/** Sends the requests of this tab, but none while the service refuses all of them. */
import { computed, signal } from "@preact/signals";
import { rootPath } from "../routing/paths.ts";
import { nowMs } from "./clock.ts";

/** The response over the rate limit or to a blocked IP, and until when it holds for all requests. */
type Refusal = { readonly status: number; readonly body: string; readonly untilMs: number };

/** The shortest wait. The limit frees one request at a time, but a page sends several. */
const firstWaitMs = 5000;
/** The longest wait, even if an IP is blocked for longer: a block can be removed. */
const longestWaitMs = 60_000;
/** Counts toward the limit of the IP, even with a key. */
const readyPath = `${rootPath}v1/ready`;

const refusal = signal<Refusal | null>(null);
let lastUntilMs = 0;
/** The refusals since requests last worked for a minute. Each doubles the wait. */
let refusals = 0;

/** In how many seconds requests are sent again; `null` while they are sent. */
export const resumesInSeconds = computed(() => {
  const current = refusal.value;
  return current === null ? null : Math.max(1, Math.ceil((current.untilMs - nowMs.value) / 1000));
});

/** Sends a request, or answers it with the refusal that holds. */
export async function fetchWhenAllowed(url: string | URL, init: RequestInit): Promise<Response> {
  const sentMs = Date.now();
  const isReadiness = new URL(url).pathname === readyPath;
  const current = isReadiness ? null : refusalAt(sentMs);
  if (current !== null) return getAnswer(current);
  // The browser may have an answer, which would keep a page old for minutes. A 304 costs little.
  const response = await fetch(url, { ...init, cache: "no-cache" });
  if (isReadiness) return response;
  const requestedMs = getRetryMs(response);
  if (requestedMs !== null) {
    const body = await response.text();
    // Of requests that were sent together, the first refusal holds.
    return getAnswer(refusalAt(sentMs) ?? remember({ status: response.status, body }, requestedMs));
  }
  if (refusalAt(sentMs) === null) refusal.value = null;
  return response;
}

/** Sends requests again, because they have another key. */
export function forgetRefusal(): void {
  refusal.value = null;
  refusals = 0;
}

function refusalAt(sentMs: number): Refusal | null {
  const { value } = refusal;
  return value !== null && sentMs < value.untilMs ? value : null;
}

function remember(refused: Omit<Refusal, "untilMs">, requestedMs: number): Refusal {
  const atMs = Date.now();
  refusals = atMs - lastUntilMs > longestWaitMs ? 0 : refusals + 1;
  const waitMs = Math.max(requestedMs, firstWaitMs * 2 ** refusals);
  lastUntilMs = atMs + Math.min(waitMs, longestWaitMs);
  const current = { ...refused, untilMs: lastUntilMs };
  refusal.value = current;
  return current;
}

function getAnswer({ status, body, untilMs }: Refusal): Response {
  const seconds = Math.max(1, Math.ceil((untilMs - Date.now()) / 1000));
  const headers = { "Content-Type": "application/json", "Retry-After": String(seconds) };
  return new Response(body, { status, headers });
}

/** Returns the wait that a refusal of all requests asks for; `null` for other responses. */
function getRetryMs({ status, headers }: Response): number | null {
  const requested = headers.get("Retry-After");
  if (status !== 429 && (status !== 403 || requested === null)) return null;
  return Number(requested ?? 0) * 1000;
}
