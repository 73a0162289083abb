/** The address of the page: paths name pages, the query string holds their state. */
import { computed, signal } from "@preact/signals";
import { rootPath } from "./paths.ts";

const here = signal(new URL(location.href));

/** The path below that of the service in segments, decoded; a segment that cannot be decoded stays as it is. */
export const segments = computed(() =>
  here.value.pathname
    .slice(rootPath.length)
    .split("/")
    .filter((segment) => segment !== "")
    .map(decoded),
);

/** The parameters of the address, which are the state of the page. */
export const parameters = computed(() => here.value.searchParams);

/** Paths of the service that are not pages of the explorer. */
const ownPaths = /^(?:v1|docs|guide|assets)(?:\/|$)/;

/** Follows the address. Called once. */
export function watchLocation(): void {
  addEventListener("popstate", () => {
    here.value = new URL(location.href);
  });
  document.addEventListener("click", (event) => {
    const to = getLink(event);
    if (to === null) return;
    event.preventDefault();
    navigate(to.pathname + to.search);
  });
}

/** Opens a page of the explorer as a new entry of the history. */
export function navigate(to: string): void {
  const isOtherPage = new URL(to, location.href).pathname !== location.pathname;
  history.pushState(null, "", to);
  here.value = new URL(location.href);
  if (!isOtherPage) return;
  scrollTo(0, 0);
  document.getElementById("content")?.focus({ preventScroll: true });
}

/** Changes parameters of the address; `null` removes one. Adds an entry to the history only with `isStep`. */
export function setParameters(
  changes: Readonly<Record<string, string | null>>,
  options: { readonly isStep?: boolean } = {},
): void {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  if (url.href === location.href) return;
  if (options.isStep === true) history.pushState(null, "", url);
  else history.replaceState(null, "", url);
  here.value = url;
}

/** Returns a parameter that is one of several words. The first word is the default, which the address leaves out. */
export function getChoice<Word extends string>(name: string, words: readonly Word[]): Word {
  const value = parameters.value.get(name);
  return words.find((word) => word === value) ?? (words[0] as Word);
}

/** Removes the fragment, which can contain a key. */
export function dropFragment(): void {
  history.replaceState(null, "", location.pathname + location.search);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Returns the explorer page that a click opens; `null` for all other clicks. */
function getLink(event: MouseEvent): URL | null {
  if (event.defaultPrevented || event.button !== 0) return null;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return null;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (link === null || link.target !== "" || link.download !== "") return null;
  if (link.getAttribute("href")?.startsWith("#") === true) return null;
  const url = new URL(link.href);
  const isOfService = url.origin === location.origin && url.pathname.startsWith(rootPath);
  return isOfService && !ownPaths.test(url.pathname.slice(rootPath.length)) ? url : null;
}
