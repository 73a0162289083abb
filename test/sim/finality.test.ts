/**
 * R2 in simulated time: over schedules of silent, stalled, forked, far ahead, far behind and returning endpoints, from
 * the first start on and over restarts, nothing becomes final that the honest endpoints do not have, as long as at most
 * half of all endpoints are wrong. Once a majority is honest and answers, finality advances.
 *
 * `TEST_SEED=<seed> FINALITY_RUNS=1` repeats one schedule.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { toError } from "../../src/base/errors.ts";
import type { Hash } from "../../src/base/ids.ts";
import { openLog } from "../../src/base/log.ts";
import { EndpointError } from "../../src/chain/chain-errors.ts";
import type { TimedBlock } from "../../src/chain/raw-log.ts";
import type { OpenTransport } from "../../src/chain/rpc/transport.ts";
import { ChainSource, type ChainSourceOptions } from "../../src/chain/sync/chain-source.ts";
import { testSeed } from "../support/property-settings.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { SimulatedClock } from "../support/simulated-clock.ts";

const requestedRuns = process.env["FINALITY_RUNS"];
const runs = Number(requestedRuns ?? 1_000);
/** Without a given number, a slow machine plays fewer schedules. */
const budgetMs = requestedRuns === undefined ? 8_000 : Number.POSITIVE_INFINITY;
const blockMs = 2_000;
const firstHead = 300;
/** The tag `finalized` is so far behind the head. */
const depth = 20;
const silent = openLog({ level: "silent" });
const filter = {
  addresses: [`0x${"aa".repeat(20)}` as const],
  topics0: [`0x${"11".repeat(32)}` as const],
} as unknown as ChainSourceOptions["filter"];

type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] };

/** The chain of an endpoint: that of all honest ones up to `forkAt`, its own from there on. */
type Behavior = {
  readonly isSilent: boolean;
  /** How far its head is above that of the chain; negative when it is behind. */
  readonly offset: number;
  /** The head at which it stands still. */
  readonly stalledAt: number | null;
  readonly forkAt: number | null;
};

const following: Behavior = { isSilent: false, offset: 0, stalledAt: null, forkAt: null };

function hashAt(number: number, forkAt: number | null, branch: number): Hash {
  const isOwn = forkAt !== null && number >= forkAt;
  return `0x${(number + 1).toString(16).padStart(32, "0")}${(isOwn ? branch : 0).toString(16).padStart(32, "0")}` as Hash;
}

function timeAt(number: number): number {
  return 1_690_000_000 + 2 * number;
}

/** Endpoints on a chain that grows by a block every two seconds. */
class Nodes {
  readonly #clock: SimulatedClock;
  readonly behaviors: Behavior[];

  constructor(clock: SimulatedClock, count: number) {
    this.#clock = clock;
    this.behaviors = Array.from({ length: count }, () => following);
  }

  get head(): number {
    return firstHead + Math.floor(this.#clock.monotonicMs() / blockMs);
  }

  get urls(): string[] {
    return this.behaviors.map((_, index) => `http://node-${index}.test`);
  }

  readonly open: OpenTransport = ({ host }) => {
    const index = Number(host.replace(/\D/g, ""));
    return {
      isAnnouncing: false,
      replace() {},
      close() {},
      exchange: async ({ body }, signal) => {
        await this.#clock.sleep(20 + index, signal);
        if (this.behaviors[index]?.isSilent) throw new EndpointError("unavailable", "no route");
        const parsed = JSON.parse(body) as Call | readonly Call[];
        const answer = (call: Call) => this.#answer(call, index);
        const value = Array.isArray(parsed) ? parsed.map(answer) : answer(parsed as Call);
        return { value, bytes: 100 };
      },
    };
  };

  #answer({ id, method, params }: Call, index: number): object {
    const reply = (result: unknown): object => ({ jsonrpc: "2.0", id, result });
    if (method === "eth_chainId") return reply("0x89");
    if (method === "eth_getLogs") return reply([]);
    const { offset, stalledAt, forkAt } = this.behaviors[index] ?? following;
    const head = Math.max(depth, (stalledAt ?? this.head) + offset);
    const [tag] = params;
    const number = tag === "latest" ? head : tag === "finalized" ? head - depth : Number(tag);
    if (number > head) return reply(null);
    return reply({
      number: `0x${number.toString(16)}`,
      hash: hashAt(number, forkAt, index + 1),
      parentHash: hashAt(number - 1, forkAt, index + 1),
      timestamp: `0x${timeAt(number).toString(16)}`,
      logsBloom: `0x${"0".repeat(512)}`,
    });
  }
}

/** Follows a source, and asserts that what becomes final is of the honest chain. */
class Observer {
  final: TimedBlock | null = null;
  failure: Error | null = null;
  #blocks = new Map<number, Hash>();

  async follow(source: ChainSource): Promise<void> {
    this.#blocks = new Map();
    try {
      const resumption = { resumeAfter: this.final, rangeEnds: [] };
      for await (const batch of source.batches(resumption)) {
        if (batch.kind === "block") this.#blocks.set(batch.block.number, batch.block.hash);
        if (batch.kind === "range") this.#finalize(batch.last.number, batch.last.hash);
        if (batch.kind === "finalized")
          this.#finalize(batch.block, this.#blocks.get(batch.block) ?? assert.fail());
      }
    } catch (thrown) {
      this.failure = toError(thrown);
    }
  }

  #finalize(number: number, hash: Hash): void {
    assert.equal(hash, hashAt(number, null, 0), `block ${number} is not of the honest chain`);
    this.final = { number, hash, timestamp: timeAt(number) };
  }
}

class Schedule {
  readonly clock = new SimulatedClock();
  readonly observer = new Observer();
  readonly nodes: Nodes;
  readonly #random: SeededRandom;
  readonly #options: Partial<ChainSourceOptions>;
  #source: ChainSource | null = null;
  #following: Promise<void> = Promise.resolve();

  constructor(count: number, random: SeededRandom, options: Partial<ChainSourceOptions> = {}) {
    this.#random = random;
    this.#options = options;
    this.nodes = new Nodes(this.clock, count);
  }

  get status() {
    assert(this.#source !== null);
    return this.#source.status;
  }

  async start(): Promise<void> {
    const opening = ChainSource.open(
      {
        urls: this.nodes.urls,
        chainId: 137,
        startBlock: "latest",
        filter,
        log: silent,
        clock: this.clock,
        random: this.#random.next,
        openTransport: this.nodes.open,
        ...this.#options,
      },
      ({ blocks }) => blocks,
    );
    let isOpen = false;
    void opening.then(() => (isOpen = true));
    await this.clock.run({ isOver: () => isOpen, limitMs: 60_000 });
    this.#source = await opening;
    this.#following = this.observer.follow(this.#source);
  }

  async stop(): Promise<void> {
    this.#source?.close();
    await this.#following;
  }

  async pass(seconds: number): Promise<void> {
    const endMs = this.clock.monotonicMs() + seconds * 1_000;
    await this.clock.run({ isOver: () => this.clock.monotonicMs() >= endMs, limitMs: 1e9 });
    if (this.observer.failure !== null) throw this.observer.failure;
  }

  set(index: number, change: Partial<Behavior>): void {
    this.nodes.behaviors[index] = { ...following, ...change };
  }

  /** Stands still at its present head. */
  stall(index: number): void {
    const before = this.nodes.behaviors[index] ?? following;
    this.nodes.behaviors[index] = { ...before, stalledAt: before.stalledAt ?? this.nodes.head };
  }
}

async function play(seed: number): Promise<void> {
  const random = new SeededRandom(seed);
  const count = random.pick([1, 2, 3, 4]);
  const wrongMax = Math.floor(count / 2);
  const wrong = random.integer(0, wrongMax);
  const schedule = new Schedule(count, random);
  const forkAt = () =>
    random.pick([1, firstHead - 10, schedule.nodes.head - random.integer(0, 60)]);
  const step = (): void => {
    const index = random.integer(0, count - 1);
    const isWrong = index < wrong;
    const own = isWrong && random.chance(0.8) ? { forkAt: forkAt() } : {};
    random.pick([
      () => schedule.set(index, own),
      () => schedule.set(index, { ...own, isSilent: true }),
      () => schedule.set(index, { ...own, offset: -random.pick([3, 70, 250]) }),
      () => schedule.set(index, { ...own, offset: isWrong ? random.pick([5, 60, 900]) : 2 }),
      () => schedule.stall(index),
    ])();
  };
  for (let index = 0; index < count; index += 1) if (random.chance(0.7)) step();
  await schedule.start();
  for (let steps = random.integer(4, 20); steps > 0; steps -= 1) {
    await schedule.pass(random.pick([1, 5, 20, 60, 200]));
    step();
    if (random.chance(0.1)) {
      await schedule.stop();
      await schedule.start();
    }
  }
  for (let index = wrong; index < count; index += 1) schedule.set(index, {});
  const isDecidable = 2 * (count - wrong) > count;
  if (!isDecidable) for (let index = 0; index < wrong; index += 1) schedule.set(index, {});
  await schedule.pass(120);
  const behind = schedule.nodes.head - (schedule.observer.final?.number ?? 0);
  assert(
    behind < depth + 30,
    `finality is ${behind} blocks behind: ${JSON.stringify(schedule.status)}`,
  );
  await schedule.stop();
  if (schedule.observer.failure !== null) throw schedule.observer.failure;
}

test(`R2: nothing becomes final without the honest endpoints, from seed ${testSeed} on`, async (t) => {
  const startedMs = performance.now();
  let run = 0;
  for (; run < runs && performance.now() - startedMs < budgetMs; run += 1) {
    await play(testSeed + run).catch((cause: unknown) => {
      throw new Error(`seed ${testSeed + run}`, { cause });
    });
  }
  t.diagnostic(`${run} schedules`);
});

describe("R2: two endpoints", () => {
  test("of which one is silent at the first start: the other, on another chain, does not decide finality", async () => {
    const schedule = new Schedule(2, new SeededRandom(1));
    schedule.set(0, { forkAt: 1 });
    schedule.set(1, { isSilent: true });
    await schedule.start();
    await schedule.pass(900);
    assert.equal(schedule.observer.final, null);
    assert(schedule.status.warnings.includes("majority_absent"));
    assert.deepEqual(schedule.status.awaitedHosts, ["node-1.test"]);
    schedule.set(1, {});
    await schedule.pass(60);
    assert.equal(schedule.observer.final, null);
    assert(schedule.status.warnings.includes("finality_disputed"));
    schedule.set(0, {});
    await schedule.pass(60);
    assert(schedule.observer.final !== null);
    await schedule.stop();
  });

  test("of which one left for a fork: the other one keeps its vote while it answers with an old head", async () => {
    for (const minorityRule of ["stop", "follow"] as const) {
      const schedule = new Schedule(2, new SeededRandom(2), { minorityRule });
      await schedule.start();
      await schedule.pass(60);
      schedule.set(1, { forkAt: schedule.nodes.head - 5 });
      await schedule.pass(60);
      schedule.stall(0);
      const before = schedule.observer.final;
      await schedule.pass(1_200);
      assert((schedule.observer.final?.number ?? 0) < firstHead + 60 + 5, "no block of the fork");
      assert(schedule.observer.final !== null && before !== null);
      assert(schedule.status.warnings.includes("finality_disputed"), minorityRule);
      await schedule.stop();
    }
  });

  for (const [minorityRule, name] of [
    ["stop", "waits for it"],
    ["follow", "goes on without it after ten minutes"],
  ] as const) {
    for (const way of ["silent", "stalled"] as const) {
      test(`of which one is ${way}: with \`${minorityRule}\`, finality ${name}`, async () => {
        const schedule = new Schedule(2, new SeededRandom(3), { minorityRule });
        await schedule.start();
        await schedule.pass(60);
        if (way === "silent") schedule.set(1, { isSilent: true });
        else schedule.stall(1);
        const stopped = schedule.nodes.head;
        await schedule.pass(590);
        assert((schedule.observer.final?.number ?? 0) <= stopped);
        assert.deepEqual(schedule.status.awaitedHosts, ["node-1.test"]);
        await schedule.pass(900);
        const isBehind = (schedule.observer.final?.number ?? 0) < schedule.nodes.head - depth - 20;
        assert.equal(isBehind, minorityRule === "stop");
        assert.deepEqual(schedule.status.awaitedHosts, isBehind ? ["node-1.test"] : []);
        await schedule.stop();
      });
    }
  }
});

test("R2: an agreement that its only witness no longer confirms is dropped, without a restart", async () => {
  const schedule = new Schedule(1, new SeededRandom(4), { startBlock: firstHead + 500 });
  schedule.set(0, { forkAt: 1, stalledAt: firstHead });
  await schedule.start();
  await schedule.pass(30);
  assert.equal(schedule.status.finalized?.hash, hashAt(firstHead - depth, 1, 1));
  // Another chain with a final block of the same number, and one with a lower one.
  for (const [offset, forkAt] of [
    [0, null],
    [-5, 1],
  ] as const) {
    schedule.set(0, { stalledAt: firstHead, offset, forkAt });
    await schedule.pass(30);
    const number = firstHead - depth + offset;
    assert.deepEqual(schedule.status.finalized, { number, hash: hashAt(number, forkAt, 1) });
  }
  await schedule.stop();
});
