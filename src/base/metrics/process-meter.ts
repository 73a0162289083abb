import { type ELDHistogram, monitorEventLoopDelay, PerformanceObserver } from "node:perf_hooks";

type EventLoopLag = { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number };

/** What this process takes of the machine; seconds are totals since its start. */
export type ProcessStatus = {
  readonly uptimeSeconds: number;
  readonly memory: Readonly<NodeJS.MemoryUsage>;
  readonly cpuUserSeconds: number;
  readonly cpuSystemSeconds: number;
  /** How late timers were within the last whole window. */
  readonly eventLoopLag: EventLoopLag;
  readonly collections: number;
  readonly collectionSeconds: number;
};

/** The delay is measured by a timer of this interval, which is part of what it measures. */
const resolutionMs = 20;
const windowMs = 10_000;

/**
 * Measures this process. The lag of the event loop is that of the last whole window of 10 seconds,
 * so that it does not depend on who asks, and how often.
 */
export class ProcessMeter {
  readonly #delays: ELDHistogram;
  readonly #observer: PerformanceObserver;
  readonly #timer: NodeJS.Timeout;
  #lag: EventLoopLag | null = null;
  #collections = 0;
  #collectionMs = 0;

  private constructor() {
    this.#delays = monitorEventLoopDelay({ resolution: resolutionMs });
    this.#delays.enable();
    this.#timer = setInterval(() => this.#endWindow(), windowMs);
    this.#timer.unref();
    this.#observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) {
        this.#collections += 1;
        this.#collectionMs += duration;
      }
    });
    this.#observer.observe({ entryTypes: ["gc"] });
  }

  static open(): ProcessMeter {
    return new ProcessMeter();
  }

  read(): ProcessStatus {
    const { user, system } = process.cpuUsage();
    return {
      uptimeSeconds: process.uptime(),
      memory: process.memoryUsage(),
      cpuUserSeconds: user / 1e6,
      cpuSystemSeconds: system / 1e6,
      eventLoopLag: this.#lag ?? lagOf(this.#delays),
      collections: this.#collections,
      collectionSeconds: this.#collectionMs / 1000,
    };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#delays.disable();
    this.#observer.disconnect();
  }

  #endWindow(): void {
    this.#lag = lagOf(this.#delays);
    this.#delays.reset();
  }
}

function lagOf(delays: ELDHistogram): EventLoopLag {
  return {
    p50Ms: latenessMs(delays.percentile(50)),
    p99Ms: latenessMs(delays.percentile(99)),
    maxMs: latenessMs(delays.max),
  };
}

function latenessMs(delayNanoseconds: number): number {
  return Math.max(0, delayNanoseconds / 1e6 - resolutionMs);
}
