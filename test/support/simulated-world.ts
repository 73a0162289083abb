/**
 * A chain that grows, reorganizes and becomes final in simulated time, with endpoints that are as faulty as real ones.
 * The seed alone determines the schedule. No final block is ever replaced.
 */
import * as fc from "fast-check";
import type { Block } from "../../src/chain/raw-log.ts";
import type { OpenTransport } from "../../src/chain/rpc/transport.ts";
import * as faults from "./faults.ts";
import { anyBlockPlan, type BlockPlan, buildChain, numberBeforeChains } from "./generate-chain.ts";
import { Losses } from "./losses.ts";
import { scriptBlocks } from "./script-blocks.ts";
import { type RpcLog, type ScriptedBlock, toQuantity } from "./scripted-block.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { SimulatedClock } from "./simulated-clock.ts";
import { SimulatedEndpoint } from "./simulated-endpoint.ts";

/**
 * Generated once, because generating costs more than simulating; a simulation picks from these plans. They are always
 * the same, so that the seed of a simulation alone repeats it.
 */
const plans: readonly BlockPlan[] = fc.sample(anyBlockPlan(2), { seed: 1, numRuns: 300 });

/** Temporary faults of single requests. Caps are not among them, because they are permanent. */
const passing: readonly faults.FaultHook[] = [
  () => faults.badGateway,
  () => faults.hang,
  () => faults.reset,
  () => faults.truncated,
  () => faults.unhealthy,
  () => faults.tooManyRequests(null),
  () => faults.tooManyRequests(2),
  () => faults.nullResult,
  faults.on("eth_getBlockByNumber", () => faults.nullResult),
  faults.on("eth_getLogs", () => faults.nullResult),
  () => ({ kind: "behind", blocks: 1 }),
  () => ({ kind: "behind", blocks: 7 }),
  faults.noLogs,
  faults.duplicateLog,
  faults.removedLog,
  faults.logOfAnotherBlock,
  faults.logOfAnotherFork,
];

type FinalityTag = "honest" | "missing" | "stuck" | "backwards";

type Node = {
  readonly endpoint: SimulatedEndpoint;
  isFollowing: boolean;
  tag: FinalityTag;
};

export class SimulatedWorld {
  readonly #clock: SimulatedClock;
  readonly #random: SeededRandom;
  readonly #blocksMin: number;
  /** Whether one node of three may claim its own chain as final, far ahead of the others. */
  readonly #hasRogues: boolean;
  #rogue: Node | null = null;
  readonly #nodes: readonly Node[];
  readonly #passing: readonly faults.FaultHook[];
  /** Logs that were omitted undetectably. */
  readonly losses = new Losses();
  #blocks: readonly Block[];
  #scripted: readonly ScriptedBlock[];
  #finalized: number;
  #forks = 0;
  #faultsToLift: (() => void)[] = [];
  readonly #liesToLift: (() => void)[] = [];

  /**
   * `limits` decides which endpoints refuse batches. With `null` none does, and none omits single logs. The chain has
   * at least `blocksMin` blocks at the beginning and at the end.
   */
  constructor(parts: {
    readonly clock: SimulatedClock;
    readonly random: SeededRandom;
    readonly limits: SeededRandom | null;
    /** Decides which endpoints are wrong about the times of some headers, until the end of `play`; `null` for none. */
    readonly times?: SeededRandom | null;
    readonly blocksMin: number;
  }) {
    const { clock, random, limits, times = null, blocksMin } = parts;
    this.#clock = clock;
    this.#random = random;
    this.#blocksMin = blocksMin;
    this.#hasRogues = limits !== null;
    this.#blocks = this.#grown([], blocksMin + random.integer(2, 40));
    this.#scripted = scriptBlocks(this.#blocks);
    this.#finalized = numberBeforeChains + random.integer(1, this.#blocks.length);
    this.#nodes = Array.from({ length: random.integer(1, 3) }, (_, index) => {
      const name = `node-${index}.test`;
      const endpoint = new SimulatedEndpoint({ name, blocks: this.#scripted, clock, random });
      if (random.chance(0.4)) endpoint.fault(this.#anyCap());
      if (limits?.chance(0.3)) endpoint.limitBatches(limits.pick([0, 0, 2, 5]), anyRefusal(limits));
      if (times?.chance(0.5)) this.#liesToLift.push(endpoint.fault(this.#anyWrongTimes(times)));
      return { endpoint, isFollowing: true, tag: "honest" };
    });
    const lose = limits === null ? null : this.#loseLog(limits);
    this.#passing = lose === null ? passing : [...passing, lose, lose];
    this.#sendFinality();
  }

  /** The canonical chain. */
  get blocks(): readonly Block[] {
    return this.#blocks;
  }

  get head(): number {
    return numberBeforeChains + this.#blocks.length;
  }

  get finalized(): number {
    return this.#finalized;
  }

  get urls(): readonly string[] {
    return this.#nodes.map(({ endpoint }) => endpoint.url.href);
  }

  /** The largest number of calls to any endpoint within one second. */
  get busiestSecond(): number {
    return Math.max(...this.#nodes.map(({ endpoint }) => endpoint.busiestSecond));
  }

  /** Until the end of `play`, every endpoint sometimes omits a log from a response. */
  hideLogs(): void {
    const lose = this.#loseLog(this.#random);
    for (const { endpoint } of this.#nodes) {
      const lift = endpoint.fault((request, chain) =>
        this.#random.chance(0.3) ? lose(request, chain) : null,
      );
      this.#liesToLift.push(lift);
    }
  }

  /** From now on one of several endpoints omits the logs of a block from its ranges. */
  forget(block: number): void {
    const [liar, other] = this.#nodes;
    if (other === undefined) return;
    const change = (logs: readonly RpcLog[]) =>
      logs.filter((log) => Number(log.blockNumber) !== block);
    liar?.endpoint.fault(faults.on("eth_getLogs", () => ({ kind: "logs", change })));
  }

  readonly openTransport: OpenTransport = (url, onHead) => {
    const node = this.#nodes.find(({ endpoint }) => endpoint.url.href === url.href);
    if (node === undefined) throw new Error(`there is no endpoint ${url.href}`);
    return node.endpoint.connect(onHead);
  };

  /** Plays random faults for `forMs`, then heals: all endpoints are honest and up to date. */
  async play(forMs: number, signal: AbortSignal): Promise<void> {
    const endsAtMs = this.#clock.monotonicMs() + forMs;
    while (this.#clock.monotonicMs() < endsAtMs) {
      await this.#clock.sleep(this.#random.integer(20, 900), signal);
      this.#step();
    }
    for (const lift of [...this.#faultsToLift, ...this.#liesToLift]) lift();
    this.#rogue = null;
    for (const node of this.#nodes) {
      node.isFollowing = true;
      node.tag = "honest";
      node.endpoint.isSilent = false;
    }
    // The chain grows at the end: a stray branch at the head is dropped only when other blocks replace it.
    this.#grow(Math.max(this.#random.integer(1, 3), this.#blocksMin - this.#blocks.length));
    this.#finalized = Math.max(this.#finalized, this.head - this.#random.integer(0, 6));
    this.#report();
  }

  #step(): void {
    const random = this.#random;
    const node = random.pick(this.#nodes);
    const steps: readonly (() => void)[] = [
      () => this.#grow(random.integer(1, 4)),
      () => this.#grow(1),
      () => this.#fork(),
      () => this.#finalize(),
      () => this.#finalize(),
      () => this.#addOffense(node.endpoint),
      () => this.#addOffense(node.endpoint),
      () => this.#stray(node),
      () => {
        if (this.#rogue === null) node.isFollowing = !node.isFollowing;
      },
      () => {
        node.tag = random.pick(["honest", "missing", "stuck", "backwards"]);
      },
      () => {
        node.endpoint.isSilent = !node.endpoint.isSilent;
      },
    ];
    random.pick(this.#hasRogues ? [...steps, () => this.#goRogue(node)] : steps)();
    this.#report();
  }

  #grow(count: number): void {
    this.#replaceAbove(this.head, count);
  }

  #fork(): void {
    const kept = this.#random.integer(this.#finalized, this.head);
    this.#replaceAbove(kept, this.#random.integer(1, this.head - kept + 3));
  }

  #finalize(): void {
    this.#finalized = this.#random.integer(this.#finalized, this.head);
  }

  #addOffense(endpoint: SimulatedEndpoint): void {
    const [hook, share] = [this.#random.pick(this.#passing), this.#random.pick([0.1, 0.5, 1])];
    const lift = endpoint.fault((request, chain) =>
      this.#random.chance(share) ? hook(request, chain) : null,
    );
    this.#faultsToLift.push(lift);
    if (this.#faultsToLift.length > 3) this.#faultsToLift.shift()?.();
  }

  /** Lets the node alone switch to its own branch. */
  #stray(node: Node): void {
    if (this.#rogue !== null) return;
    const kept = this.#random.integer(this.#finalized, this.head) - numberBeforeChains;
    const branch = this.#grown(this.#blocks.slice(0, kept), this.#random.integer(1, 5));
    node.isFollowing = false;
    node.endpoint.follow([...this.#scripted.slice(0, kept), ...scriptBlocks(branch.slice(kept))]);
  }

  /** Lets one of three nodes claim its own chain, partly as final, until the next call. The others stay together. */
  #goRogue(node: Node): void {
    if (this.#rogue !== null) {
      this.#rogue.isFollowing = true;
      this.#rogue.tag = "honest";
      this.#rogue = null;
    } else if (this.#nodes.length === 3 && this.#nodes.every(({ isFollowing }) => isFollowing)) {
      const kept = this.#random.integer(1, this.#blocks.length);
      const count = this.#random.pick([1, 10, 70, 150]);
      const branch = this.#grown(this.#blocks.slice(0, kept), count);
      this.#rogue = node;
      node.isFollowing = false;
      node.tag = "stuck";
      node.endpoint.follow([...this.#scripted.slice(0, kept), ...scriptBlocks(branch.slice(kept))]);
      node.endpoint.setFinalized(numberBeforeChains + kept + count);
    }
  }

  /** Times that contradict the clock, or those of all other blocks. */
  #anyWrongTimes(random: SeededRandom): faults.FaultHook {
    const share = random.pick([0.02, 0.2, 1]);
    const first = this.#blocks[0]?.timestamp ?? 0;
    const isWrong = (number: number) => number > numberBeforeChains + 1 && random.chance(share);
    const value = random.pick([0, first - 1, this.#clock.nowMs() / 1000 + 86_400, 4_165_776_000]);
    const lie = { nth: 1, name: "timestamp", value: toQuantity(value) };
    return faults.wrongHeaders(isWrong, lie);
  }

  #loseLog(random: SeededRandom): faults.FaultHook {
    return faults.loseLog(
      (count) => random.integer(0, Math.max(0, count - 1)),
      (loss) => this.losses.add(loss),
    );
  }

  #replaceAbove(number: number, count: number): void {
    const kept = number - numberBeforeChains;
    this.#blocks = this.#grown(this.#blocks.slice(0, kept), count);
    const added = scriptBlocks(this.#blocks.slice(kept));
    this.#scripted = [...this.#scripted.slice(0, kept), ...added];
  }

  #grown(kept: readonly Block[], count: number): readonly Block[] {
    this.#forks += 1;
    const picked = Array.from({ length: count }, () => this.#random.pick(plans));
    const options = { after: kept.at(-1), salt: `${this.#forks}.` };
    return [...kept, ...buildChain(picked, options).map(({ block }) => block)];
  }

  #report(): void {
    for (const { endpoint, isFollowing } of this.#nodes) {
      if (isFollowing) endpoint.follow(this.#scripted);
    }
    this.#sendFinality();
  }

  /** An endpoint never reports a block as final that the chain may still replace. No client could detect that. */
  #sendFinality(): void {
    for (const { endpoint, tag } of this.#nodes) {
      const honest = Math.min(this.#finalized, endpoint.commonWith(this.#scripted));
      if (tag === "honest") endpoint.setFinalized(honest);
      if (tag === "missing") endpoint.setFinalized(null);
      if (tag === "backwards") {
        endpoint.setFinalized(this.#random.integer(numberBeforeChains + 1, honest));
      }
    }
  }

  #anyCap(): faults.FaultHook {
    const random = this.#random;
    const provider = random.pick([
      "alchemy",
      "infura",
      "quicknode",
      "drpc",
      "chainstack",
      "nobodys",
    ] as const);
    const seller = random.pick(["infura", "erigon", "geth", "llama", "bytes"] as const);
    return random.chance(0.5)
      ? faults.rangeCap(random.integer(1, 30), provider)
      : faults.resultCap(random.integer(1, 30), seller);
  }
}

function anyRefusal(random: SeededRandom): faults.BatchRefusal {
  return random.pick([
    "erigon",
    "drpc",
    "geth",
    "unsupported",
    "unclear",
    "rejected",
    "forbidden",
    "hungUp",
    "nothing",
    "firstOnly",
  ] as const);
}
