import { wait } from "../../client/src/backoff.ts";
import type { OddwireClient } from "../../client/src/client.ts";
import { OddwireError } from "../../client/src/oddwire-error.ts";

/** What a page works with. */
export type PageContext = {
  readonly client: OddwireClient;
  /** Aborted when the reader goes to another page: everything the page does ends with it. */
  readonly signal: AbortSignal;
  /** What follows the name of the page in the address. */
  readonly parameter: string;
  readonly about: Promise<About>;
};

/** What stays as it is while the service runs; what could not be learnt counts as not there. */
export type About = { readonly chainId: number | null; readonly hasBooks: boolean };

/** Makes the content of a page; it fills itself as answers come. */
export type Page = (context: PageContext) => HTMLElement;

/** An error in words for the reader. */
export function wordsOf(thrown: unknown): string {
  if (thrown instanceof OddwireError) {
    const details = thrown.details.map(({ parameter, issue }) => `${parameter} ${issue}`);
    return [thrown.message, ...details].join("; ");
  }
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Does something now and again, one after the other, until the page is left; failures are sent. */
export async function repeat(
  everyMs: number,
  { signal }: Pick<PageContext, "signal">,
  action: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    if (!document.hidden) await action();
    await wait(everyMs, signal).catch(() => {});
  }
}
