import type { Log } from "../base/log.ts";
import type { Backfill, SyncProgress } from "./sync-progress.ts";

const reportEveryMs = 5_000;
/** In a log file a backfill of days must not fill the disk. */
const logEveryMs = 60_000;

/**
 * Logs the progress of a backfill: one rewritten line on a terminal, structured log lines elsewhere. Returns a
 * function that stops it.
 */
export function logProgress(progress: SyncProgress, log: Log): () => void {
  /** Whether a progress line is on the terminal. */
  let isPrinted = false;
  let loggedMs = -Infinity;
  const report = (): void => {
    progress.measure();
    const { backfill } = progress;
    if (backfill !== null && !process.stderr.isTTY) {
      const nowMs = performance.now();
      if (nowMs - loggedMs >= logEveryMs) {
        loggedMs = nowMs;
        log.info(getFacts(backfill), "backfill in progress");
      }
      return;
    }
    if (backfill !== null) process.stderr.write(`\r\u001B[K${toLine(backfill)}`);
    else if (isPrinted) process.stderr.write("\r\u001B[Kcaught up with the head\n");
    isPrinted = backfill !== null;
  };
  progress.measure();
  const timer = setInterval(report, reportEveryMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    if (isPrinted) process.stderr.write("\n");
  };
}

function getFacts({ indexedBlock, toBlock, progress, rates, secondsLeft }: Backfill) {
  return {
    indexed_block: indexedBlock,
    head_block: toBlock,
    // Rounded down, so that 100 % means that nothing is left.
    percent: Math.floor(progress * 1000) / 10,
    blocks_per_second: Math.round(rates?.blocksPerSecond ?? 0),
    fills_per_second: Math.round(rates?.fillsPerSecond ?? 0),
    remaining_seconds: secondsLeft,
  };
}

function toLine(backfill: Backfill): string {
  const facts = getFacts(backfill);
  const remaining = facts.remaining_seconds === null ? "?" : formatSeconds(facts.remaining_seconds);
  return (
    `block ${facts.indexed_block} of ${facts.head_block} (${facts.percent} %), ` +
    `${facts.blocks_per_second} blocks/s, ${facts.fills_per_second} fills/s, ${remaining} left`
  );
}

/** Formats a duration in at most two units: `3700` -> `1 h 1 min`. */
export function formatSeconds(seconds: number): string {
  const units: [number, string][] = [
    [86_400, "d"],
    [3600, "h"],
    [60, "min"],
    [1, "s"],
  ];
  const at = units.findIndex(([size]) => seconds >= size);
  const [largest, next] = [units[at], units[at + 1]];
  if (largest === undefined) return "0 s";
  const first = `${Math.floor(seconds / largest[0])} ${largest[1]}`;
  const remainder = next === undefined ? 0 : Math.floor((seconds % largest[0]) / next[0]);
  return next === undefined || remainder === 0 ? first : `${first} ${remainder} ${next[1]}`;
}
