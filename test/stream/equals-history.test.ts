/**
 * R11: each client ends with the rows of REST, whatever is published, reverted and finalized while clients
 * connect, leave, stall and reconnect, and however often the service stops or is killed.
 */
import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import * as fc from "fast-check";
import { toLastSeq } from "../../src/base/ids.ts";
import { openLog } from "../../src/base/log.ts";
import type { ChainChange } from "../../src/feed/change.ts";
import { Pipeline } from "../../src/feed/pipeline.ts";
import type { Engine } from "../../src/storage/engine/engine.ts";
import { openChannel } from "../../src/stream/channels.ts";
import { pageAfter } from "../../src/stream/hub/channel.ts";
import { Hub } from "../../src/stream/hub/hub.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { channels, FoldingClient, mismatch } from "../support/folding-client.ts";
import { anyOrder, numberBeforeChains } from "../support/generate-chain.ts";
import { MemoryStateStore } from "../support/memory-state-store.ts";
import { propertySettings } from "../support/property-settings.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { type SharedParts, sharedParts } from "../support/session-client.ts";
import { anyStep, SteppedChain } from "../support/stepped-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";
import type { LogContent } from "../support/test-markets.ts";
import { waitFor } from "../support/wait-for.ts";

const contracts = knownContracts();
const log = openLog({ level: "silent" });

type Act =
  | {
      readonly kind: "connect";
      readonly channel: number;
      readonly from: number;
      readonly batch: boolean;
    }
  | { readonly kind: "stall" | "drain" | "comeBack" | "leave"; readonly client: number };

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
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        "stall" as const,
        "drain" as const,
        "comeBack" as const,
        "leave" as const,
      ),
      client: fc.nat(100),
    }),
  },
);

/** One turn: some clients act, then the chain takes a step. */
const anyTurn = fc.record({ acts: fc.array(anyAct, { maxLength: 3 }), step: anyStep });
type Turn = typeof anyTurn extends fc.Arbitrary<infer One> ? One : never;

/**
 * One life of the process, from start to end. A killed process makes `writesLeft` more writes during its last
 * turns. The chain continues during them and until the next start.
 */
const anyLife = fc.record({
  turns: fc.array(anyTurn, { minLength: 2, maxLength: 10 }),
  killed: fc.option(
    fc.record({ writesLeft: fc.nat(8), turns: fc.array(anyTurn, { maxLength: 3 }) }),
  ),
  missed: fc.array(anyStep, { maxLength: 2 }),
});
type Life = typeof anyLife extends fc.Arbitrary<infer One> ? One : never;

/** The parts that are open during a life. */
type Started = {
  readonly sources: ConstructorParameters<typeof Hub>[0];
  readonly hub: Hub;
  readonly parts: SharedParts;
  readonly pipeline: Pipeline;
};

/** A chain, the service that follows it from life to life, and its clients. */
class Play {
  readonly #folder: StoreFolder;
  readonly #chain: SteppedChain;
  readonly #scheduler: fc.Scheduler;
  readonly #clients: FoldingClient[] = [];
  /** That of the life which is on. */
  #hub: Hub | null = null;

  private constructor(folder: StoreFolder, order: readonly LogContent[], scheduler: fc.Scheduler) {
    this.#folder = folder;
    this.#chain = new SteppedChain(order);
    this.#scheduler = scheduler;
  }

  static async open(
    t: TestContext,
    order: readonly LogContent[],
    scheduler: fc.Scheduler,
  ): Promise<Play> {
    return new Play(await StoreFolder.open(t), order, scheduler);
  }

  async live(life: Life): Promise<void> {
    const service = await this.#start();
    const run = service.pipeline.run(this.#getChanges(life, service));
    await this.#scheduler.waitFor(life.killed === null ? run : run.catch(() => {}));
    this.#hub = null;
    for (const client of this.#clients) client.leave();
    await this.#scheduler.waitFor(service.hub.close());
    await this.#scheduler.waitFor(this.#folder.close());
    for (const step of life.missed) this.#chain.take(step);
  }

  /** Runs the last life: all clients reconnect and must end with the right rows. */
  async end(): Promise<void> {
    const service = await this.#start();
    for (const client of this.#clients) client.comeBack(service.parts);
    const last = { turns: [], killed: null };
    await this.#scheduler.waitFor(service.pipeline.run(this.#getChanges(last, service)));
    for (const [number, client] of this.#clients.entries())
      await this.#check(service, number, client);
    for (const { client } of this.#clients) client.session.closed();
    await this.#scheduler.waitFor(service.hub.close());
    await this.#scheduler.waitFor(this.#folder.close());
  }

  async #start(): Promise<Started> {
    const store = await this.#folder.reopen();
    const state = new MarketState(contracts, new MemoryStateStore());
    await store.loadView(state);
    const query = store.engine.query.bind(store.engine);
    // The scheduler decides which query is answered next, and when the next change comes.
    store.engine.query = async (sql: string) => {
      await this.#pause();
      const rows = await query(sql);
      await this.#pause();
      return rows;
    };
    const sources = { facts: store, state, books: null };
    const hub = new Hub(sources);
    this.#hub = hub;
    const pipeline = new Pipeline({ facts: store, state, subscribers: hub, log });
    return { sources, hub, parts: sharedParts(hub), pipeline };
  }

  async *#getChanges(
    { turns, killed }: Pick<Life, "turns" | "killed">,
    service: Started,
  ): AsyncGenerator<ChainChange> {
    const { store } = this.#folder;
    const { coverage, writer } = store;
    yield* this.#chain.resumeAfter(coverage?.last.number ?? -1, writer?.claims?.ends ?? []);
    for (const turn of turns) yield* this.#take(turn, service);
    if (killed === null) return;
    dieAfter(store.engine, killed.writesLeft);
    for (const turn of killed.turns) yield* this.#take(turn, service);
    throw new Error("killed");
  }

  async *#take({ acts, step }: Turn, service: Started): AsyncGenerator<ChainChange> {
    for (const act of acts) {
      // A process whose write failed is dead before all of its changes came.
      if (service.hub !== this.#hub) return;
      this.#act(act, service);
      await this.#pause();
    }
    for (const piece of this.#chain.take(step)) {
      yield piece;
      await this.#pause();
    }
  }

  #act(act: Act, { hub, parts }: Started): void {
    if (act.kind === "connect") {
      const request = channels[act.channel % channels.length];
      assert(request !== undefined);
      const before = toLastSeq(numberBeforeChains);
      const range = Math.max(0, hub.latestSeq - before);
      const start = hub.latestSeq < 0 ? 0 : before + Math.floor((range * act.from) / 100);
      const from = act.from % 3 === 0 ? null : act.from % 3 === 1 ? 0 : start;
      this.#clients.push(new FoldingClient(parts, request, { from, batch: act.batch }));
      return;
    }
    const chosen = this.#clients[act.client % Math.max(1, this.#clients.length)];
    if (chosen === undefined) return;
    switch (act.kind) {
      case "leave":
        return chosen.leave();
      case "comeBack":
        return chosen.comeBack(parts);
      case "stall":
        chosen.client.takes = false;
        return;
      case "drain":
        return chosen.client.drain();
    }
  }

  async #check({ sources }: Started, number: number, client: FoldingClient): Promise<void> {
    const { store } = this.#folder;
    const channel = openChannel(client.request, sources);
    let wrong: string | null = null;
    const name = `client ${number}: ${JSON.stringify(channel.normalizedRequest)}`;
    const caughtUp = waitFor(name, async () => {
      const entries = await channel.read({ ...pageAfter(-1, 1_000_000), restate: true });
      const final = (store.coverage?.last.number ?? -1) * 1_000_000 + 999_999;
      const expected = channel.isFinalOnly ? entries.filter(({ seq }) => seq <= final) : entries;
      client.fold();
      wrong = mismatch(client, expected);
      return wrong === null ? true : null;
    });
    await this.#scheduler.waitFor(caughtUp).catch((cause: unknown) => {
      throw new Error(`${String(cause)}\n${wrong}`);
    });
  }

  async #pause(): Promise<void> {
    await this.#scheduler.schedule(Promise.resolve());
  }
}

/** Makes every write fail after `writesLeft` more writes. */
function dieAfter(engine: Pick<Engine, "insert" | "command">, writesLeft: number): void {
  const { insert, command } = engine;
  let left = writesLeft;
  const write = async (doIt: () => Promise<void>): Promise<void> => {
    if (left === 0) throw new Error("killed");
    left -= 1;
    await doIt();
  };
  engine.insert = (table, rows, token) => write(() => insert.call(engine, table, rows, token));
  engine.command = (sql) => write(() => command.call(engine, sql));
}

suite("clients end with the rows of REST", () => {
  const runs = fc.sample(
    fc.tuple(fc.array(anyLife, { minLength: 1, maxLength: 4 }), anyOrder, fc.scheduler()),
    propertySettings(4),
  );
  for (const [index, [lives, order, scheduler]] of runs.entries()) {
    test(`run ${index}`, async (t) => {
      const play = await Play.open(t, order, scheduler);
      for (const life of lives) await play.live(life);
      await play.end();
    });
  }
});
