import type { Clock } from "../../base/time/clock.ts";
import { formatSeconds } from "../../feed/progress-log.ts";

const showEveryMs = 200;
const newLine = 10;

type Output = { readonly isTTY?: boolean; write(text: string): unknown };

/**
 * Shows the progress of a download: on a terminal a line that is overwritten, and one line for each complete
 * file. Rows are counted only in text formats; the percentage and the time left also need the total of rows.
 */
export class DownloadProgress {
  readonly #output: Output;
  readonly #clock: Clock;
  #path = "";
  #rowsTotal: number | null = null;
  #rows = 0;
  #bytes = 0;
  #beganAtMs = 0;
  #shownAtMs = 0;

  constructor(output: Output, clock: Clock) {
    this.#output = output;
    this.#clock = clock;
  }

  /** Begins a file, or a new attempt at it. `rowsTotal` is `null` when the service does not know it. */
  begin(path: string, rowsTotal: number | null): void {
    this.#path = path;
    this.#rowsTotal = rowsTotal;
    this.#rows = path.endsWith(".csv") ? -1 : 0;
    this.#bytes = 0;
    this.#beganAtMs = this.#clock.monotonicMs();
  }

  add(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#output.isTTY !== true) return;
    if (/\.(?:csv|ndjson)$/.test(this.#path)) this.#rows += countLines(chunk);
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#shownAtMs < showEveryMs) return;
    this.#shownAtMs = nowMs;
    this.#output.write(`\r\u001b[K${this.#lineAt(nowMs)}`);
  }

  end(): void {
    const rows = this.#rowsTotal === null ? "" : `  ${this.#rowsTotal} rows`;
    const start = this.#output.isTTY === true ? "\r\u001b[K" : "";
    this.#output.write(`${start}${this.#path}${rows}  ${formatSize(this.#bytes)}\n`);
  }

  #lineAt(nowMs: number): string {
    const elapsedMs = Math.max(1, nowMs - this.#beganAtMs);
    const perSecond = `${formatSize((this.#bytes / elapsedMs) * 1000)}/s`;
    const parts = [this.#path, formatSize(this.#bytes), perSecond];
    const total = this.#rowsTotal;
    if (total !== null && this.#rows > 0) {
      const percent = Math.min(100, (this.#rows / total) * 100).toFixed(1);
      const secondsLeft = (elapsedMs / this.#rows) * Math.max(0, total - this.#rows) * 0.001;
      parts.push(`${this.#rows} of ${total} rows (${percent} %)`);
      parts.push(`${formatSeconds(Math.round(secondsLeft))} left`);
    } else if (total !== null) parts.push(`${total} rows`);
    return parts.join("  ");
  }
}

function countLines(chunk: Uint8Array): number {
  let count = 0;
  for (let at = chunk.indexOf(newLine); at !== -1; at = chunk.indexOf(newLine, at + 1)) count += 1;
  return count;
}

function formatSize(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
