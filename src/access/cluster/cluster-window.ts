import type { Awaitable } from "../../base/time/awaitable.ts";
import { LocalWindow, type SlidingWindow } from "../local/sliding-window.ts";
import { noStanding, type RateWindow, type Standing } from "../rate-window.ts";
import type { WindowClient, WindowQuestion } from "./window-client.ts";

/**
 * What a node does while limits are not exact: it admits its share of a limit, or nothing, or as many as if it were
 * alone.
 */
export type WithoutRedis = "share" | "refuse" | "alone";

/** How long a window is, and how many callers have one. */
export type WindowBounds = { readonly windowMs: number; readonly entriesMax: number };

type ClusterWindowParts = WindowBounds & {
  readonly client: WindowClient;
  /** Names this window among those of the cluster. */
  readonly kind: string;
  readonly withoutRedis: WithoutRedis;
};

/** The requests of all nodes of a cluster. */
export class ClusterWindow implements RateWindow {
  readonly #parts: ClusterWindowParts;
  readonly #client: WindowClient;
  /** What was admitted by this node, whatever has decided it. */
  readonly #own: LocalWindow;

  constructor(parts: ClusterWindowParts) {
    this.#parts = parts;
    this.#client = parts.client;
    this.#own = new LocalWindow(parts);
  }

  take(caller: string, limit: number, nowMs: number): Awaitable<Standing> {
    const own = this.#own.windowOf(caller, limit, nowMs);
    if (!this.#client.isExact) return this.#takeAlone(caller, own, nowMs);
    return this.#ask("take", caller, limit).then((standing) => {
      if (standing === null) return this.#takeAlone(caller, own, nowMs);
      if (standing.isAdmitted) own.take(nowMs);
      return standing;
    });
  }

  look(caller: string, limit: number, nowMs: number): Awaitable<Standing> {
    const own = this.#own.windowOf(caller, limit, nowMs);
    const alone = () => this.#standingOf(own, { limit: this.#partOf(limit), nowMs });
    if (!this.#client.isExact) return alone();
    return this.#ask("look", caller, limit).then((standing) => standing ?? alone());
  }

  forget(caller: string): void {
    this.#own.forget(caller);
    this.#client.forget(this.#nameOf(caller));
  }

  #takeAlone(caller: string, own: SlidingWindow, nowMs: number): Standing {
    const { limit } = own;
    const part = this.#partOf(limit);
    const standing = this.#standingOf(own, { limit: part, nowMs });
    if (part === null || standing.remaining === 0) return standing;
    own.take(nowMs);
    // So that Redis has all of the window once it is asked again.
    if (this.#client.isConnected) void this.#ask("record", caller, limit);
    const after = this.#standingOf(own, { limit: part, nowMs });
    return { ...after, isAdmitted: true };
  }

  /** What this node may admit of a limit; `null` when that is not known, or nothing. */
  #partOf(limit: number): number | null {
    switch (this.#parts.withoutRedis) {
      case "share":
        return this.#client.shareOf(limit);
      case "refuse":
        return null;
      case "alone":
        return limit;
    }
  }

  /** What is shown is the whole limit: the part is for now. */
  #standingOf(
    own: SlidingWindow,
    part: { readonly limit: number | null; readonly nowMs: number },
  ): Standing {
    const { limit } = own;
    if (part.limit === null) return { ...noStanding, limit, isUnavailable: true };
    const used = limit - own.remaining(part.nowMs);
    const remaining = Math.max(0, part.limit - used);
    const resetMs = used === 0 && remaining === 0 ? this.#parts.windowMs : own.resetMs(part.nowMs);
    return { ...noStanding, limit, remaining, resetMs, atMs: part.nowMs };
  }

  #ask(kind: WindowQuestion["kind"], caller: string, limit: number): Promise<Standing | null> {
    const { windowMs } = this.#parts;
    return this.#client.ask({ kind, name: this.#nameOf(caller), limit, windowMs });
  }

  #nameOf(caller: string): string {
    return `${this.#parts.kind}:${caller}`;
  }
}
