import assert from "node:assert/strict";
import { toError } from "../../src/base/errors.ts";
import { openLog } from "../../src/base/log.ts";
import type { BlockRef } from "../../src/chain/raw-log.ts";
import { ChainSource, type ChainSourceOptions } from "../../src/chain/sync/chain-source.ts";
import { LogDecoder } from "../../src/contracts/log-decoder.ts";
import { numberBeforeChains } from "../support/generate-chain.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { SimulatedClock } from "../support/simulated-clock.ts";
import { SimulatedWorld } from "../support/simulated-world.ts";

export const contracts = knownContracts();
export const decoder = new LogDecoder(contracts);
export const startBlock = numberBeforeChains + 1;

/**
 * How long a subject can take to reach the end of the chain once nothing fails. Far longer than any pause of a breaker
 * or a provider: a minute was the longest of 28 schedules. A subject that needs more has stalled.
 */
const healMsMax = 120_000;
/** The same with 5 calls a second, with which the proofs of a few blocks by single receipts take minutes. */
const slowHealMsMax = 300_000;
const silent = openLog({ level: "silent" });

/** The subject of a simulation: it applies changes, crashes and restarts. */
export type Subject = {
  readonly newest: BlockRef | null;
  readonly finalized: number;
  /** Whether it is working in real time, so that simulated time must wait. */
  readonly isBusy: boolean;
  /** Reads the source from where the subject is, until it is closed. */
  follow(source: ChainSource, simulation: Simulation): Promise<void>;
  /** Crashes immediately and restarts. */
  crash(random: SeededRandom): Promise<void>;
};

/** The faults of a world, and the least number of its blocks. Without one, older seeds play as they did before it. */
export type SimulationOptions = {
  /** Whether nodes have limits of batches and rates. */
  readonly hasLimits: boolean;
  /** Whether nodes are wrong about the times of blocks. */
  readonly hasWrongTimes?: boolean;
  readonly blocksMin?: number;
};

/** A world whose faults follow from one seed, and a subject that follows its chain. */
export class Simulation {
  readonly clock = new SimulatedClock();
  readonly random: SeededRandom;
  readonly world: SimulatedWorld;
  readonly #subject: Subject;
  readonly #abort = new AbortController();
  readonly #callsPerSecondMax: number | null;
  #failure: Error | null = null;
  #source: ChainSource | null = null;

  constructor(seed: number, subject: Subject, options: SimulationOptions) {
    this.random = new SeededRandom(seed);
    const limits = options.hasLimits ? new SeededRandom(seed + 1) : null;
    const times = options.hasWrongTimes === true ? new SeededRandom(seed + 2) : null;
    const { blocksMin = 0 } = options;
    const { clock, random } = this;
    this.world = new SimulatedWorld({ clock, random, limits, times, blocksMin });
    this.#callsPerSecondMax = limits?.pick([null, null, null, 50, 5]) ?? null;
    this.#subject = subject;
  }

  /** Lets simulated time pass, for a slow subject. */
  async pause(ms: number): Promise<void> {
    await this.clock.sleep(ms, this.#abort.signal).catch(() => {});
  }

  /** Plays the schedule to its end and waits until the subject has reached the end of the chain. */
  async run(): Promise<void> {
    const { signal } = this.#abort;
    const playing = this.#begin(this.world.play(this.random.integer(5_000, 30_000), signal));
    const living = this.#begin(this.#live());
    try {
      await this.#pass(() => playing.isOver);
      await this.#pass(() => this.#isThere());
    } finally {
      this.#abort.abort();
      // A real store completes its last append in real time.
      const isPaused = () => this.#subject.isBusy;
      await this.clock.run({ isOver: () => living.isOver, isPaused, limitMs: this.#healMsMax });
    }
    const callsMax = this.#callsPerSecondMax ?? Infinity;
    assert(this.world.busiestSecond <= callsMax, `${this.world.busiestSecond} calls in a second`);
  }

  /** Describes the state of everything, to find the cause of a failure. */
  describe(): string {
    const { newest, finalized } = this.#subject;
    const { head, finalized: final } = this.world;
    const status = JSON.stringify(this.#source?.status, null, 2);
    const at = `${this.clock.monotonicMs().toFixed()} ms`;
    return `${at}: at ${newest?.number} (final ${finalized}) of ${head} (final ${final}); ${status}`;
  }

  get #healMsMax(): number {
    return this.#callsPerSecondMax === 5 ? slowHealMsMax : healMsMax;
  }

  /** Starts a task. Its failure fails the simulation. */
  #begin(task: Promise<void>): { isOver: boolean } {
    const begun = { isOver: false };
    const end = () => {
      begun.isOver = true;
    };
    task.then(end, (thrown: unknown) => {
      end();
      this.#failure ??= toError(thrown);
    });
    return begun;
  }

  async #pass(isReached: () => boolean): Promise<void> {
    await this.clock.run({
      isOver: () => this.#failure !== null || isReached(),
      isPaused: () => this.#subject.isBusy,
      limitMs: this.#healMsMax,
    });
    if (this.#failure !== null) throw this.#failure;
  }

  #isThere(): boolean {
    const { newest, finalized } = this.#subject;
    return newest?.hash === this.world.blocks.at(-1)?.hash && finalized === this.world.finalized;
  }

  /** Runs the subject again and again. Each run but the last ends with a crash at a random moment. */
  async #live(): Promise<void> {
    const { signal } = this.#abort;
    const crashes = this.random.pick([0, 0, 1, 2, 4]);
    for (let life = 0; !signal.aborted; life += 1) {
      const source = await this.openSource();
      this.#source = source;
      const close = () => source.close();
      signal.addEventListener("abort", close, { once: true });
      if (signal.aborted) return close();
      const following = this.#subject.follow(source, this);
      if (life < crashes)
        await Promise.race([this.pause(this.random.integer(0, 12_000)), following]);
      else await following;
      close();
      await following;
      if (!signal.aborted) await this.#subject.crash(this.random);
      signal.removeEventListener("abort", close);
    }
  }

  openSource(): Promise<ChainSource> {
    const options: ChainSourceOptions = {
      urls: this.world.urls,
      chainId: 137,
      startBlock,
      filter: decoder.filter,
      log: silent,
      clock: this.clock,
      random: this.random.next,
      callsPerSecondMax: this.#callsPerSecondMax,
      openTransport: this.world.openTransport,
    };
    return ChainSource.open(options, ({ blocks }) => blocks);
  }
}
