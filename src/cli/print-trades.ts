import { AppError, toError } from "../base/errors.ts";
import type { TradeRow } from "../rows/trade-row.ts";

type TradePage = { data: TradeRow[]; meta: { indexed_seq: number | null } };

const pollMs = 500;
const pageRows = 1000;

/**
 * Prints trades as they are indexed, oldest first, from the moment it is called until `signal` is
 * aborted. Each is printed once, because a page goes on after the last seq of the one before.
 * Throws `AppError` when the service cannot be reached or refuses.
 */
export async function printTrades(options: {
  url: string;
  key: string;
  asJson: boolean;
  write: (line: string) => void;
  signal: AbortSignal;
}): Promise<void> {
  const { asJson, write, signal } = options;
  let afterSeq: number | null = null;
  while (!signal.aborted) {
    try {
      const query: string =
        afterSeq === null ? "limit=10" : `order=asc&limit=${pageRows}&after_seq=${afterSeq}`;
      const { data, meta }: TradePage = await fetchPage(options, query);
      const rows: TradeRow[] = afterSeq === null ? data.toReversed() : data;
      for (const row of rows) write(asJson ? JSON.stringify(row) : formatTrade(row));
      afterSeq = rows.at(-1)?.seq ?? afterSeq ?? meta.indexed_seq;
      if (rows.length < pageRows) await waitMs(pollMs, signal);
    } catch (thrown) {
      if (signal.aborted) return;
      throw thrown;
    }
  }
}

async function fetchPage(
  { url, key, signal }: { url: string; key: string; signal: AbortSignal },
  query: string,
): Promise<TradePage> {
  const answer = await fetch(new URL(`/v1/trades?${query}`, url), {
    headers: { "X-API-Key": key },
    signal,
  }).catch(connectionLost);
  const body = (await answer.json()) as TradePage & { error?: { message: string } };
  if (answer.ok) return body;
  const reason = body.error?.message ?? "no reason";
  throw failure(`the service answered ${answer.status}: ${reason}`);
}

function connectionLost(thrown: unknown): never {
  const { cause, message } = toError(thrown);
  throw failure(
    `the service cannot be reached: ${cause instanceof Error ? cause.message : message}`,
  );
}

function failure(publicMessage: string): AppError {
  return new AppError("SERVICE_UNAVAILABLE", { publicMessage });
}

function formatTrade(row: TradeRow): string {
  const token = row.outcome ?? `${row.token_id.slice(0, 8)}...`;
  return [
    row.timestamp,
    row.side.padEnd(4),
    row.size.padStart(14),
    "at",
    (row.price ?? "-").padEnd(8),
    row.match_type.padEnd(13),
    token,
  ].join(" ");
}

function waitMs(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
