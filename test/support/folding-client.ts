/** A client that applies the frames it receives, reorgs included. */
import assert from "node:assert/strict";
import { formatTokenId } from "../../src/base/ids.ts";
import { deriveGen3TokenIds } from "../../src/market/ids/gen3-ids.ts";
import type { ChannelRequest } from "../../src/stream/frames/client-frame.ts";
import type { Entry } from "../../src/stream/hub/channel.ts";
import { traders } from "./generate-matches.ts";
import { SessionClient, type SharedParts } from "./session-client.ts";
import { allTestMarkets, gen3Conditions, testMarkets } from "./test-markets.ts";

const tokenId = allTestMarkets[0]?.tokenIds[0];
/** A token of generation 3. Its id contains its pair, so its candles are complete before a log names its market. */
const [pairedId] = deriveGen3TokenIds(gen3Conditions.first);
assert(tokenId !== undefined && pairedId !== undefined);
/** Markets that can become known after their tokens were minted or traded, and one that is joined with its mirror. */
const interestIds = [
  ...Object.values(testMarkets).map(({ conditionId }) => conditionId),
  ...Object.values(gen3Conditions),
];
/** Channels of facts must deliver every row. Channels of states must end with the correct one. */
const facts: readonly ChannelRequest[] = [
  { type: "trades" },
  { type: "trades", filter: { side: "BUY" } },
  { type: "trades", filter: { finality: "finalized" } },
  { type: "token_trades", token_id: tokenId },
  { type: "resolutions" },
  { type: "markets" },
  { type: "cancellations" },
  { type: "wallet", wallets: traders },
];
const states: readonly ChannelRequest[] = [
  { type: "candles", token_id: pairedId, resolution: "1m" },
  { type: "candles", token_id: pairedId, resolution: "1d" },
  { type: "price", token_id: pairedId },
  { type: "price", token_id: tokenId },
  { type: "open_interest", condition_ids: interestIds },
];
export const channels = [...facts, ...states];

export class FoldingClient {
  client: SessionClient;
  readonly request: ChannelRequest;
  readonly rows = new Map<string, { seq: number; data: unknown }>();
  /** The client must have every row above this position. */
  low = Infinity;
  readonly #isFacts: boolean;
  /** Whether a reorg removes every row after its position. */
  readonly #isRowLog: boolean;
  #seen = 0;
  #last = 0;
  #subscribed = false;

  constructor(
    parts: SharedParts,
    request: ChannelRequest,
    options: { from: number | null; batch: boolean },
  ) {
    this.request = request;
    this.#isFacts = facts.includes(request);
    this.#isRowLog = this.#isFacts || request.type === "open_interest";
    this.client = new SessionClient(parts, { batch: options.batch });
    this.#subscribe(options.from);
  }

  /** Drops the connection. */
  leave(): void {
    this.fold();
    this.client.session.closed();
  }

  /** Connects again and resumes from the last position it saw. */
  comeBack(parts: SharedParts): void {
    this.leave();
    this.#seen = 0;
    this.#subscribed = false;
    this.client = new SessionClient(parts);
    this.#subscribe(this.#last);
  }

  fold(): void {
    const { frames } = this.client;
    for (; this.#seen < frames.length; this.#seen += 1) {
      const frame = frames[this.#seen];
      if (frame !== undefined) this.#take(frame);
    }
  }

  #subscribe(from: number | null): void {
    const { type, token_id: id, filter, resolution, wallets, condition_ids } = this.request;
    const channel = {
      type,
      ...(id === undefined ? {} : { token_id: formatTokenId(id) }),
      ...(filter === undefined ? {} : { filter }),
      ...(resolution === undefined ? {} : { resolution }),
      ...(wallets === undefined ? {} : { wallets }),
      ...(condition_ids === undefined ? {} : { condition_ids }),
    };
    const start = from === null ? {} : { resume_from: from };
    this.client.send({ action: "subscribe", channel, ...start });
  }

  #take(frame: Readonly<Record<string, unknown>>): void {
    const seq = frame["seq"] as number;
    switch (frame["type"]) {
      case "subscribed":
        this.#subscribed = true;
        this.#last = seq;
        this.low = Math.min(this.low, seq);
        return;
      case "event": {
        assert(this.#subscribed, "the answer comes before the events");
        assert.equal(frame["prev_seq"], this.#last, "events are chained");
        assert(seq >= this.#last, "an event never moves a client back");
        const name = this.request.type === "price" ? "price" : getName(frame["data"]);
        if (this.#isFacts) assert(!this.rows.has(name), `${name} was sent twice`);
        this.rows.set(name, { seq, data: frame["data"] });
        this.#last = seq;
        return;
      }
      case "reorg": {
        const to = frame["rewind_to_seq"] as number;
        const reverted = new Set(frame["reverted"] as string[]);
        for (const [name, { seq: at }] of this.rows) {
          if (this.#isRowLog ? at > to : reverted.has(name)) this.rows.delete(name);
          else if (this.#isFacts) assert(!reverted.has(name), "what is named stands behind");
        }
        this.#last = to;
        this.low = Math.min(this.low, to);
        return;
      }
      case "error":
        assert.fail(JSON.stringify(frame));
    }
  }
}

/** Fields that are joined when a row is formatted. They change with time or with new information about a market. */
const joined = new Set([
  "status",
  "closed",
  "stats_24h",
  "timestamp_ms",
  "complement",
  "complement_token_id",
  "condition_id",
  "outcome",
  "outcome_index",
  "question",
  "winning_outcome",
  "winning_token_id",
]);

/** Returns a row without those fields. */
export function steady(json: unknown): unknown {
  return JSON.parse(JSON.stringify(json), (name, value: unknown) =>
    joined.has(name) ? undefined : value,
  );
}

function toRows(entries: readonly Entry[]): Map<string, unknown> {
  const rows = entries.map(({ json }) => JSON.parse(json) as unknown);
  return new Map(rows.map((row) => [getName(row), steady(row)]));
}

/** Returns what identifies a row within its channel: the start of a candle, a market, the id of any other row. */
function getName(row: unknown): string {
  const { id, timestamp, condition_id } = row as Record<string, string | undefined>;
  return id ?? timestamp ?? condition_id ?? "";
}

/** Describes how the rows of a client differ from the expected ones; `null` if they are equal. */
export function mismatch(folded: FoldingClient, entries: readonly Entry[]): string | null {
  const { type } = folded.request;
  if (type === "price") {
    const [newest] = entries;
    const reported = folded.rows.get("price");
    if (newest === undefined || newest.seq <= folded.low) return null;
    const { timestamp: _, ...expected } = JSON.parse(newest.json) as Record<string, unknown>;
    const { timestamp: __, ...actual } = (reported?.data ?? {}) as Record<string, unknown>;
    return same(steady(actual), steady(expected));
  }
  const expected = toRows(
    entries.filter(({ seq, json }) => {
      const isState = type === "open_interest" && folded.rows.has(getName(JSON.parse(json)));
      return seq > folded.low || isState;
    }),
  );
  const actual = new Map([...folded.rows].map(([id, { data }]) => [id, steady(data)]));
  // Markets change after they were sent, so only their ids are compared.
  if (type === "markets")
    return same([...actual.keys()].toSorted(), [...expected.keys()].toSorted());
  // A bucket that began before `low` may be missing, or present with its newest state.
  if (type === "candles") {
    for (const id of actual.keys()) if (!expected.has(id)) actual.delete(id);
  }
  return same(sorted(actual), sorted(expected));
}

function sorted(rows: ReadonlyMap<string, unknown>): unknown[] {
  return [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function same(actual: unknown, expected: unknown): string | null {
  try {
    assert.deepEqual(actual, expected);
    return null;
  } catch (thrown) {
    return String(thrown);
  }
}
