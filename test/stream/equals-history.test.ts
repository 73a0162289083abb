/**
 * R11: whatever is published, taken back and settled while clients come, go, stall and come back,
 * what each was told, with its forks applied, is what REST tells.
 */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "fast-check";
import { formatTokenId } from "../../src/base/ids.ts";
import { openLog } from "../../src/base/log.ts";
import type { ChainNews } from "../../src/chain-news.ts";
import { deriveGen3TokenIds } from "../../src/market/gen3-ids.ts";
import { MarketState } from "../../src/market/market-state.ts";
import { Pipeline } from "../../src/pipeline.ts";
import { type Entry, RowMemo } from "../../src/stream/channel.ts";
import { openChannel } from "../../src/stream/channels.ts";
import type { ChannelRequest } from "../../src/stream/frame-fields.ts";
import { Hub } from "../../src/stream/hub.ts";
import {
  anyBlockPlan,
  anyOrder,
  type BlockPlan,
  buildChain,
  type GeneratedBlock,
  numberBeforeChains,
} from "../support/generate-chain.ts";
import { testFreshness } from "../support/open-test-server.ts";
import { propertySettings } from "../support/property-settings.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { SessionClient, type SharedParts, sharedParts } from "../support/session-client.ts";
import { encode, factsOf } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";
import { allTestMarkets, gen3Conditions, type LogContent } from "../support/test-markets.ts";
import { waitFor } from "../support/wait-for.ts";

const contracts = knownContracts();

type Step =
  | { readonly kind: "final"; readonly plans: readonly BlockPlan[] }
  | { readonly kind: "held"; readonly plans: readonly BlockPlan[] }
  | { readonly kind: "fork"; readonly depth: number; readonly plans: readonly BlockPlan[] }
  | { readonly kind: "finalized"; readonly lag: number };

type Act =
  | {
      readonly kind: "connect";
      readonly channel: number;
      readonly from: number;
      readonly batch: boolean;
    }
  | { readonly kind: "stall" | "drain" | "comeBack"; readonly client: number };

const anyPlans = fc.array(anyBlockPlan(2), { minLength: 1, maxLength: 4 });
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("final" as const), plans: anyPlans }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("held" as const), plans: anyPlans }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("fork" as const), depth: fc.nat(6), plans: anyPlans }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("finalized" as const), lag: fc.nat(5) }) },
);
const anyAct: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("connect" as const),
      channel: fc.nat(100),
      from: fc.nat(100),
      batch: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom("stall" as const, "drain" as const, "comeBack" as const),
      client: fc.nat(100),
    }),
  },
);

const tokenId = allTestMarkets[0]?.tokenIds[0];
/** Of generation 3: a token tells its pair, so that no trade is before its market is known. */
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
const channels = [...facts, ...states];

/** The chain as a source would tell it, step by step. */
class Chain {
  #blocks: GeneratedBlock[] = [];
  #finalCount = 0;
  #salt = 0;
  readonly #order: readonly LogContent[];

  constructor(order: readonly LogContent[]) {
    this.#order = order;
  }

  get newest(): number {
    return this.#blocks.at(-1)?.block.number ?? numberBeforeChains;
  }

  take(step: Step): ChainNews[] {
    switch (step.kind) {
      case "final": {
        const settled = this.#settle(this.#blocks.length);
        const added = this.#grow(step.plans);
        this.#finalCount = this.#blocks.length;
        return [...settled, { kind: "final", batch: encode(factsOf(added)), more: false }];
      }
      case "held":
        return factsOf(this.#grow(step.plans)).map((block) => ({ kind: "held", block }));
      case "fork": {
        const kept = Math.max(this.#finalCount, this.#blocks.length - step.depth);
        this.#blocks = this.#blocks.slice(0, kept);
        this.#salt += 1;
        const safeBlock = this.newest;
        const held = factsOf(this.#grow(step.plans));
        return [
          { kind: "fork", safeBlock },
          ...held.map((block) => ({ kind: "held", block }) as const),
        ];
      }
      case "finalized":
        return this.#settle(this.#blocks.length - step.lag);
    }
  }

  #settle(count: number): ChainNews[] {
    const block = this.#blocks[count - 1]?.block.number;
    if (count <= this.#finalCount || block === undefined) return [];
    this.#finalCount = count;
    return [{ kind: "finalized", block }];
  }

  #grow(plans: readonly BlockPlan[]): GeneratedBlock[] {
    const after = this.#blocks.at(-1)?.block;
    const added = buildChain(plans, { after, salt: `${this.#salt}`, order: this.#order });
    this.#blocks = [...this.#blocks, ...added];
    return added;
  }
}

/** A client that keeps what it is told, and what a fork leaves of it. */
class Folded {
  client: SessionClient;
  readonly request: ChannelRequest;
  readonly rows = new Map<string, { seq: number; data: unknown }>();
  /** From where on it has to have everything. */
  low = Infinity;
  readonly #parts: SharedParts;
  readonly #isFacts: boolean;
  #seen = 0;
  #last = 0;
  #subscribed = false;

  constructor(
    parts: SharedParts,
    request: ChannelRequest,
    options: { from: number | null; batch: boolean },
  ) {
    this.#parts = parts;
    this.request = request;
    this.#isFacts = facts.includes(request);
    this.client = new SessionClient(parts, { batch: options.batch });
    this.#subscribe(options.from);
  }

  /** Loses the connection and goes on from what it saw last. */
  comeBack(): void {
    this.fold();
    this.client.session.closed();
    const from = this.#last;
    this.#seen = 0;
    this.#subscribed = false;
    this.client = new SessionClient(this.#parts);
    this.#subscribe(from);
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
        const { id, timestamp } = frame["data"] as { id?: string; timestamp?: string };
        const name = this.request.type === "price" ? "price" : (id ?? timestamp ?? "");
        if (this.#isFacts) assert(!this.rows.has(name), `${name} was told twice`);
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

/** What is wrong with what a client was told; `null` when it is right. */
function mismatch(folded: Folded, entries: readonly Entry[]): string | null {
  const { type } = folded.request;
  if (type === "price") {
    const [newest] = entries;
    const told = folded.rows.get("price");
    if (newest === undefined || newest.seq <= folded.low) return null;
    const { timestamp: _, ...expected } = JSON.parse(newest.json) as Record<string, unknown>;
    const { timestamp: __, ...actual } = (told?.data ?? {}) as Record<string, unknown>;
    return same(steady(actual), steady(expected));
  }
  const expected = rowsOf(entries.filter(({ seq }) => seq > folded.low));
  const actual = new Map([...folded.rows].map(([id, { data }]) => [id, steady(data)]));
  // Markets change after they were told.
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

suite("what clients are told is what REST tells", () => {
  const runs = fc.sample(
    fc.tuple(
      fc.array(anyStep, { minLength: 10, maxLength: 20 }),
      fc.array(anyAct, { minLength: 15, maxLength: 30 }),
      anyOrder,
      fc.scheduler(),
    ),
    propertySettings(5),
  );
  for (const [index, [steps, acts, order, scheduler]] of runs.entries()) {
    test(`run ${index}`, async (t) => {
      const { store } = await StoreFolder.open(t);
      const state = new MarketState(contracts);
      const sources = { store, state, contracts, books: null, bookTopOf: () => null };
      const hub = new Hub({ ...sources, freshness: () => testFreshness });
      const parts = sharedParts(hub);
      const query = store.engine.query.bind(store.engine);
      // Which query is answered next, and when the next news comes, is for the scheduler to say.
      const pause = async () => scheduler.schedule(Promise.resolve());
      store.engine.query = async (sql: string) => {
        await pause();
        const rows = await query(sql);
        await pause();
        return rows;
      };
      const chain = new Chain(order);
      const clients: Folded[] = [];
      const act = (one: Act): void => {
        if (one.kind === "connect") {
          const request = channels[one.channel % channels.length];
          assert(request !== undefined);
          const span = (chain.newest - numberBeforeChains + 2) * 1_000_000;
          const start = Math.floor(numberBeforeChains * 1_000_000 + (span * one.from) / 100);
          const from = one.from % 3 === 0 ? null : one.from % 3 === 1 ? 0 : start;
          clients.push(new Folded(parts, request, { from, batch: one.batch }));
          return;
        }
        const chosen = clients[one.client % Math.max(1, clients.length)];
        if (chosen === undefined) return;
        if (one.kind === "comeBack") chosen.comeBack();
        else if (one.kind === "stall") chosen.client.takes = false;
        else chosen.client.drain();
      };
      async function* news(): AsyncGenerator<ChainNews> {
        for (const [turn, step] of steps.entries()) {
          const share = Math.ceil(acts.length / steps.length);
          for (const one of acts.slice(turn * share, (turn + 1) * share)) {
            act(one);
            await pause();
          }
          for (const piece of chain.take(step)) {
            yield piece;
            await pause();
          }
        }
      }
      const pipeline = new Pipeline({
        store,
        state,
        subscribers: hub,
        log: openLog({ level: "silent" }),
      });
      await scheduler.waitFor(pipeline.run(news()));
      for (const folded of clients) folded.client.drain();

      const whole = { limit: 1_000_000, restate: true };
      for (const [number, folded] of clients.entries()) {
        const channel = openChannel(folded.request, { ...sources, justHeld: new RowMemo() });
        let wrong: string | null = null;
        const name = `client ${number}: ${JSON.stringify(channel.asked)}`;
        const caughtUp = waitFor(name, async () => {
          const entries = await channel.readAfter(-1, whole);
          const final = (store.coverage?.last.number ?? -1) * 1_000_000 + 999_999;
          const told = channel.isFinalOnly ? entries.filter(({ seq }) => seq <= final) : entries;
          folded.fold();
          wrong = mismatch(folded, told);
          return wrong === null ? true : null;
        });
        await scheduler.waitFor(caughtUp).catch((cause: unknown) => {
          throw new Error(`${String(cause)}\n${wrong}`);
        });
      }
      for (const folded of clients) folded.client.session.closed();
      await scheduler.waitFor(hub.close());
    });
  }
});
