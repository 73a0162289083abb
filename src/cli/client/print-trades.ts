import type { Trade } from "../../../client/src/api.ts";
import { OddwireClient } from "../../../client/src/client.ts";
import { OddwireError } from "../../../client/src/oddwire-error.ts";
import type { ReorgFrame } from "../../../client/src/stream-frames.ts";
import { AppError } from "../../base/errors.ts";

const newestRows = 10;

/**
 * Prints the newest trades and then all others as they are indexed, until `signal` is aborted. A
 * connection that breaks is resumed, so that each is printed once; what a fork reverts is sent
 * by a line, and what replaces it is printed. Throws `AppError` when the service cannot be reached
 * at first, or refuses.
 */
export async function printTrades(options: {
  url: string;
  key: string;
  asJson: boolean;
  write: (line: string) => void;
  signal: AbortSignal;
}): Promise<void> {
  const { url, key, asJson, write, signal } = options;
  const show = (row: Trade): void => write(asJson ? JSON.stringify(row) : formatTrade(row));
  try {
    const client = new OddwireClient({ url, key, backoff: patience });
    // A wrong address or key is sent immediately; the stream would try for ever.
    await client.trades({ limit: 1 })[Symbol.asyncIterator]().next();
    const channel = { type: "trades" } as const;
    for await (const frame of client.stream({ channel, snapshot: newestRows, signal })) {
      if (frame.type === "snapshot") for (const row of frame.data) show(row);
      else if (frame.type === "event") show(frame.data);
      else if (frame.type === "reorg") write(asJson ? JSON.stringify(frame) : formatFork(frame));
    }
  } catch (thrown) {
    if (signal.aborted) return;
    throw thrown instanceof OddwireError ? failureOf(thrown) : thrown;
  }
}

/** One attempt, as a person is waiting; once connected, the longest wait between two is this. */
const patience = { attempts: 1, firstWaitMs: 1_000, longestWaitMs: 10_000 } as const;

function failureOf({ code, message, cause }: OddwireError): AppError {
  const reason = cause instanceof Error ? `: ${reasonOf(cause)}` : "";
  const publicMessage =
    code === "UNREACHABLE"
      ? `the service cannot be reached${reason}`
      : `the service refused: ${message}`;
  return new AppError("SERVICE_UNAVAILABLE", { publicMessage });
}

/** What `fetch` failed of is in its cause. */
function reasonOf({ cause, message }: Error): string {
  return cause instanceof Error && cause.message !== "" ? cause.message : message;
}

function formatFork({ rewind_to_seq, reverted }: ReorgFrame): string {
  const behind = rewind_to_seq === null ? "everything" : `what is behind ${rewind_to_seq}`;
  return `a fork reverted ${behind} (${reverted.length} trades); what is there now follows`;
}

function formatTrade(row: Trade): string {
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
