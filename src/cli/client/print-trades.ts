import type { StreamReorg, Trade } from "../../../clients/typescript/src/api.ts";
import { OddwireClient } from "../../../clients/typescript/src/client.ts";
import { OddwireError } from "../../../clients/typescript/src/oddwire-error.ts";
import { toPlainLine } from "../../base/plain-text.ts";
import { type Clock, systemClock } from "../../base/time/clock.ts";
import { exitCodes, print } from "../command.ts";
import { signalToStop } from "../service/await-signal.ts";
import { type ApiOptions, readApi } from "./api-options.ts";
import { callService } from "./call-service.ts";

const newestRows = 10;
/** The maximum number of cached questions. When it is reached, the cache is cleared. */
const questionsMax = 1_000;
/** A market without a question is looked up again after this. */
const rereadAfterMs = 60_000;

type TailOptions = ApiOptions & {
  /** A condition id, a token id or a slug. */
  readonly market?: string;
  readonly wallet?: string;
  readonly side?: "BUY" | "SELL";
  readonly minValue?: string;
  /** A time in a form that the service accepts. Without one, the newest trades come first. */
  readonly since?: string;
  readonly json?: boolean;
};

/** Prints the trades of a running service until a signal. */
export async function tail(options: TailOptions): Promise<number> {
  await printTrades(options, print, signalToStop());
  return exitCodes.done;
}

/**
 * Prints the newest trades, or those since a time, and then new trades as they are indexed, until `signal`
 * is aborted. Resumes a broken connection, so that each trade is printed once. After a reorg it prints a line
 * about the reverted trades, then the trades that replace them. Throws `CommandError` when the service
 * refuses, or cannot be reached at first.
 */
export async function printTrades(
  options: TailOptions,
  write: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const { market, wallet, side, minValue: min_value, since = null, json = false } = options;
  const client = new OddwireClient({ ...readApi(options), backoff: tailBackoff });
  const getQuestion = questionReader(client);
  const show = async (row: Trade): Promise<void> =>
    write(json ? JSON.stringify(row) : formatTrade(row, await getQuestion(row.condition_id)));
  await callService(async () => {
    const condition =
      market === undefined ? {} : { condition_id: (await client.market(market)).id };
    const filter = { wallet, side, min_value, ...condition };
    const channel = { type: "trades", filter } as const;
    // This request fails immediately on a wrong address or key. The stream would retry forever.
    const start = await getStart(client, since);
    for await (const frame of client.stream({ channel, ...start, signal })) {
      if (frame.type === "snapshot") for (const row of frame.data) await show(row);
      else if (frame.type === "event") await show(frame.data);
      else if (frame.type === "reorg") write(json ? JSON.stringify(frame) : formatReorg(frame));
    }
  }, signal);
}

/** Requests are not retried, because a person is waiting. The waits apply when the stream reconnects. */
const tailBackoff = { attempts: 1, firstWaitMs: 1_000, longestWaitMs: 10_000 } as const;

/** Returns where the stream begins: before the first trade since a time, or with the newest trades. */
async function getStart(
  client: OddwireClient,
  since: string | null,
): Promise<{ snapshot?: number; resumeFrom?: number }> {
  const query = since === null ? {} : ({ start: since, order: "asc" } as const);
  const { data, meta } = await client.trades({ ...query, limit: 1 }).page();
  if (since === null) return { snapshot: newestRows };
  const [first] = data;
  return { resumeFrom: first === undefined ? (meta.indexed_seq ?? 0) : first.seq - 1 };
}

type Known = { readonly question: string | null; readonly readMs: number };

/** Returns a cached reader of market questions; `null` while the market is unknown or has no question. */
export function questionReader(
  client: Pick<OddwireClient, "market">,
  clock: Pick<Clock, "monotonicMs"> = systemClock,
): (id: string | null) => Promise<string | null> {
  const questions = new Map<string, Known>();
  return async (id) => {
    if (id === null) return null;
    const cached = questions.get(id);
    const nowMs = clock.monotonicMs();
    if (cached !== undefined && (cached.question !== null || nowMs - cached.readMs < rereadAfterMs))
      return cached.question;
    const question = await client.market(id).then((market) => market.question, nullIfRefused);
    if (questions.size >= questionsMax) questions.clear();
    questions.set(id, { question, readMs: nowMs });
    return question;
  };
}

function nullIfRefused(thrown: unknown): null {
  if (thrown instanceof OddwireError) return null;
  throw thrown;
}

function formatReorg({ rewind_to_seq, reverted }: StreamReorg): string {
  const behind = rewind_to_seq === null ? "everything" : `everything after ${rewind_to_seq}`;
  return `a reorg reverted ${behind} (${reverted.length} trades); the replacements follow`;
}

function formatTrade(row: Trade, question: string | null): string {
  const token = row.outcome ?? `${row.token_id.slice(0, 8)}...`;
  return [
    row.timestamp,
    row.side.padEnd(4),
    row.size.padStart(14),
    "at",
    (row.price ?? "-").padEnd(8),
    token.padEnd(4),
    question ?? row.condition_id ?? "unknown market",
  ]
    .map(toPlainLine)
    .join(" ");
}
