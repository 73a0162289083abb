import type { Clock } from "../../base/time/clock.ts";
import { formatSeconds } from "../../feed/progress-log.ts";

const showEveryMs = 200;

type Output = { readonly isTTY?: boolean; write(text: string): unknown };

/**
 * Shows the progress of a download: on a terminal a line that is overwritten, and one line for each complete
 * file. Rows, the percentage and the time left are shown only for text formats.
 */
export class DownloadProgress {
  readonly #output: Output;
  readonly #clock: Clock;
  #path = "";
  #rowsTotal = 0;
  #read: { readonly rows: number | null } = { rows: null };
  #bytes = 0;
  #beganAtMs = 0;
  #printedAtMs = 0;

  constructor(output: Output, clock: Clock) {
    this.#output = output;
    this.#clock = clock;
  }

  /** Begins a file, or a new attempt at it. `read` counts the rows that came. */
  begin(path: string, rowsTotal: number, read: { readonly rows: number | null }): void {
    this.#path = path;
    this.#rowsTotal = rowsTotal;
    this.#read = read;
    this.#bytes = 0;
    this.#beganAtMs = this.#clock.monotonicMs();
  }

  add(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#output.isTTY !== true) return;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#printedAtMs < showEveryMs) return;
    this.#printedAtMs = nowMs;
    this.#output.write(`\r\u001b[K${this.#lineAt(nowMs)}`);
  }

  end(): void {
    const start = this.#output.isTTY === true ? "\r\u001b[K" : "";
    const size = formatSize(this.#bytes);
    this.#output.write(`${start}${this.#path}  ${this.#rowsTotal} rows  ${size}\n`);
  }

  #lineAt(nowMs: number): string {
    const elapsedMs = Math.max(1, nowMs - this.#beganAtMs);
    const perSecond = `${formatSize((this.#bytes / elapsedMs) * 1000)}/s`;
    const parts = [this.#path, formatSize(this.#bytes), perSecond];
    const total = this.#rowsTotal;
    const { rows } = this.#read;
    if (rows !== null && rows > 0) {
      const percent = Math.min(100, (rows / total) * 100).toFixed(1);
      const secondsLeft = (elapsedMs / rows) * Math.max(0, total - rows) * 0.001;
      parts.push(`${rows} of ${total} rows (${percent} %)`);
      parts.push(`${formatSeconds(Math.round(secondsLeft))} left`);
    } else parts.push(`${total} rows`);
    return parts.join("  ");
  }
}

function formatSize(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
