/** A client that keeps what it is sent, and what a reorg leaves of it. */
import assert from "node:assert/strict";
import { formatTokenId } from "../../src/base/ids.ts";
import { deriveGen3TokenIds } from "../../src/market/ids/gen3-ids.ts";
import type { ChannelRequest } from "../../src/stream/frames/frame-fields.ts";
import type { Entry } from "../../src/stream/hub/channel.ts";
import { SessionClient, type SharedParts } from "./session-client.ts";
import { allTestMarkets, gen3Conditions } from "./test-markets.ts";

const tokenId = allTestMarkets[0]?.tokenIds[0];
/** Of generation 3: a token id contains its pair, so that no trade comes before its market is known. */
const [pairedId] = deriveGen3TokenIds(gen3Conditions.first);
assert(tokenId !== undefined && pairedId !== undefined);
/** Logs of facts, of which every row has to come, and states, of which the last has to be right. */
const facts: readonly ChannelRequest[] = [
  { type: "trades" },
  { type: "trades", filter: { side: "BUY" } },
  { type: "trades", filter: { finality: "finalized" } },
  { type: "token_trades", token_id: tokenId },
  { type: "resolutions" },
  { type: "markets" },
  { type: "cancellations" },
];
const states: readonly ChannelRequest[] = [
  { type: "candles", token_id: pairedId, resolution: "1m" },
  { type: "candles", token_id: pairedId, resolution: "1d" },
  { type: "price", token_id: pairedId },
];
export const channels = [...facts, ...states];

export class FoldingClient {
  client: SessionClient;
  readonly request: ChannelRequest;
  readonly rows = new Map<string, { seq: number; data: unknown }>();
  /** From where on it has to have everything. */
  low = Infinity;
  readonly #isFacts: boolean;
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
    this.client = new SessionClient(parts, { batch: options.batch });
    this.#subscribe(options.from);
  }

  /** Loses the connection. */
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
    const { type, token_id: id, filter, resolution } = this.request;
    const channel = {
      type,
      ...(id === undefined ? {} : { token_id: formatTokenId(id) }),
      ...(filter === undefined ? {} : { filter }),
      ...(resolution === undefined ? {} : { resolution }),
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
        const { id, timestamp } = frame["data"] as { id?: string; timestamp?: string };
        const name = this.request.type === "price" ? "price" : (id ?? timestamp ?? "");
        if (this.#isFacts) assert(!this.rows.has(name), `${name} was sent twice`);
        this.rows.set(name, { seq, data: frame["data"] });
        this.#last = seq;
        return;
      }
      case "reorg": {
        const to = frame["rewind_to_seq"] as number;
        const reverted = new Set(frame["reverted"] as string[]);
        for (const [name, { seq: at }] of this.rows) {
          if (this.#isFacts ? at > to : reverted.has(name)) this.rows.delete(name);
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

/** What is joined when a row is shown, and changes with time or with what is learnt of a market. */
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
  "winning_outcome",
  "winning_token_id",
]);

function steady(json: unknown): unknown {
  const fields = Object.entries(json as Record<string, unknown>);
  return Object.fromEntries(fields.filter(([name]) => !joined.has(name)));
}

function rowsOf(entries: readonly Entry[]): Map<string, unknown> {
  return new Map(entries.map(({ id, json }) => [id, steady(JSON.parse(json))]));
}

/** What is wrong with the rows a client has; `null` when it is right. */
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
  const expected = rowsOf(entries.filter(({ seq }) => seq > folded.low));
  const actual = new Map([...folded.rows].map(([id, { data }]) => [id, steady(data)]));
  // Markets change after they were sent.
  if (type === "markets")
    return same([...actual.keys()].toSorted(), [...expected.keys()].toSorted());
  // Of a bucket that began before, the client has the newest state, or none.
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
