import { readdirSync } from "node:fs";
import { type ELDHistogram, monitorEventLoopDelay, PerformanceObserver } from "node:perf_hooks";
import { roundToThousandths } from "../round.ts";

/** The interval of the timer that measures the delay. The measured delay includes this interval. */
const resolutionMs = 20;
const windowMs = 10_000;

/**
 * Measures this process. The event loop lag is that of the last complete window of 10 seconds. So it does not depend
 * on when and how often it is read.
 */
export class ProcessMeter {
  readonly #delays: ELDHistogram;
  readonly #observer: PerformanceObserver;
  readonly #timer: NodeJS.Timeout;
  #lag: ReturnType<typeof getLag> | null = null;
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

  /** Returns the metrics of this process. Seconds are totals since its start. */
  read() {
    const { user, system } = process.cpuUsage();
    const memory = process.memoryUsage();
    return {
      memory: {
        resident_memory_bytes: memory.rss,
        heap_used_bytes: memory.heapUsed,
        heap_total_bytes: memory.heapTotal,
        external_memory_bytes: memory.external,
      },
      open_fds: countOpenFiles(),
      cpu_user_seconds: user / 1e6,
      cpu_system_seconds: system / 1e6,
      event_loop_lag: this.#lag ?? getLag(this.#delays),
      garbage_collections: this.#collections,
      garbage_collection_seconds: roundToThousandths(this.#collectionMs / 1000),
    };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#delays.disable();
    this.#observer.disconnect();
  }

  #endWindow(): void {
    this.#lag = getLag(this.#delays);
    this.#delays.reset();
  }
}

/** Returns the number of open files; `null` where the system does not list them. */
function countOpenFiles(): number | null {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return null;
  }
}

function getLag(delays: ELDHistogram) {
  return {
    p50_ms: latenessMs(delays.percentile(50)),
    p99_ms: latenessMs(delays.percentile(99)),
    max_ms: latenessMs(delays.max),
  };
}

function latenessMs(delayNanoseconds: number): number {
  return roundToThousandths(Math.max(0, delayNanoseconds / 1e6 - resolutionMs));
}
