import type { LimitStatus, SlidingWindow } from "../../base/sliding-window.ts";
import type { Awaitable } from "../../base/time/awaitable.ts";
import { LocalWindow } from "../local/local-window.ts";
import { type RateWindow, refusedStatus } from "../rate-window.ts";
import type { WindowClient, WindowRequest } from "./window-client.ts";

/**
 * How a node limits requests while the counts in Redis are not exact. `share`: it admits its share of the limit;
 * `refuse`: nothing; `full`: the whole limit, as if it were the only node.
 */
export type WithoutRedis = "share" | "refuse" | "full";

/** The length of a window, and the maximum number of callers that have one. */
export type WindowBounds = { readonly windowMs: number; readonly entriesMax: number };

type ClusterWindowParts = WindowBounds & {
  readonly client: WindowClient;
  readonly kind: string;
  readonly withoutRedis: WithoutRedis;
};

/** A rate window shared by all nodes of a cluster. */
export class ClusterWindow implements RateWindow {
  readonly #parts: ClusterWindowParts;
  readonly #client: WindowClient;
  /** The requests that this node has admitted, whether Redis or the node itself decided. */
  readonly #local: LocalWindow;

  constructor(parts: ClusterWindowParts) {
    this.#parts = parts;
    this.#client = parts.client;
    this.#local = new LocalWindow(parts);
  }

  acquire(caller: string, limit: number, nowMs: number): Awaitable<LimitStatus> {
    const window = this.#local.getWindow(caller, limit, nowMs);
    if (!this.#isExact) return this.#acquireLocally(caller, window, nowMs);
    return this.#ask("acquire", caller, limit).then((status) => {
      if (status === null) return this.#acquireLocally(caller, window, nowMs);
      if (status.isAdmitted) window.acquire(nowMs);
      return status;
    });
  }

  peek(caller: string, limit: number, nowMs: number): Awaitable<LimitStatus> {
    const window = this.#local.getWindow(caller, limit, nowMs);
    const peekLocally = () => this.#decideLocally(window, (part) => window.peek(nowMs, part));
    if (!this.#isExact) return peekLocally();
    return this.#ask("peek", caller, limit).then((status) => status ?? peekLocally());
  }

  /** Whether every request is refused, because Redis cannot count it and this node may not decide alone. */
  get isRefusing(): boolean {
    return !this.#isExact && this.#getPart(1) === null;
  }

  forget(caller: string): void {
    this.#local.forget(caller);
    this.#client.forget(this.#getName(caller));
  }

  #acquireLocally(caller: string, window: SlidingWindow, nowMs: number): LimitStatus {
    const status = this.#decideLocally(window, (part) => window.acquire(nowMs, part));
    // Redis then has every request of the window when it decides again.
    if (status.isAdmitted && this.#client.isConnected)
      void this.#ask("record", caller, window.limit);
    return status;
  }

  /** Decides by the part of the limit that this node can admit. The status reports the whole limit. */
  #decideLocally({ limit }: SlidingWindow, decide: (part: number) => LimitStatus): LimitStatus {
    const part = this.#getPart(limit);
    return part === null ? { ...refusedStatus, limit, isUnavailable: true } : decide(part);
  }

  get #isExact(): boolean {
    const { isExact, isComplete } = this.#client;
    return this.#parts.withoutRedis === "refuse" ? isExact : isComplete;
  }

  /** Returns how much of a limit this node can admit; `null` when it must refuse, or does not know its share. */
  #getPart(limit: number): number | null {
    switch (this.#parts.withoutRedis) {
      case "share":
        return this.#client.getShare(limit);
      case "refuse":
        return null;
      case "full":
        return limit;
    }
  }

  #ask(kind: WindowRequest["kind"], caller: string, limit: number): Promise<LimitStatus | null> {
    const { windowMs } = this.#parts;
    return this.#client.ask({ kind, name: this.#getName(caller), limit, windowMs });
  }

  #getName(caller: string): string {
    return `${this.#parts.kind}:${caller}`;
  }
}
