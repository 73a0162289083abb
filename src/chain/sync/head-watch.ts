import { chainLimits, outageBackoff } from "../../base/config/limits.ts";
import { toError } from "../../base/errors.ts";
import { WakeSignal } from "../../base/time/wake-signal.ts";
import type { ChainContext } from "../chain-context.ts";
import { EndpointError, WrongChainError } from "../chain-errors.ts";
import type { Header } from "../parse/parse-header.ts";
import type { BlockRef } from "../raw-log.ts";
import type { Endpoint } from "../rpc/endpoint.ts";
import type { EndpointPool } from "../rpc/endpoint-pool.ts";
import type { EndpointView } from "../rpc/endpoint-state.ts";
import type { RpcCall } from "../rpc/json-rpc.ts";
import type { Answer } from "../rpc/rpc-client.ts";

const headCalls: readonly RpcCall[] = ["latest", "finalized"].map((tag) => ({
  method: "eth_getBlockByNumber",
  params: [tag, false],
}));
const blockTimeMsAtStart = 2_000;
/** Bounds one sample: a chain that was halted for an hour does not have a block time of an hour. */
const blockTimeMsMax = 15_000;

const pollShareMax = 0.25;

/** The blocks of the tags `latest` and `finalized`. `tag` is `null` when the node does not have the latter. */
type Heads = { readonly head: Header; readonly tag: Header | null };

/** The block that a socket announced last, and when. Before its first: the known head, and when it was subscribed. */
type Announced = { readonly number: number; readonly atMs: number };

/** Polls the heads of all endpoints, the best one most often, and replaces silent sockets (R6). */
export class HeadWatch {
  /** Notified of every change: heads, finality, and endpoints that are back. */
  readonly wake = new WakeSignal();
  readonly #pool: EndpointPool;
  readonly #context: ChainContext;
  readonly #outage: OutageLog;
  readonly #announced = new Map<Endpoint, Announced>();
  #best: { readonly number: number; readonly atMs: number } | null = null;
  /** A sliding average over new heads. */
  #blockTimeMs = blockTimeMsAtStart;

  constructor(pool: EndpointPool) {
    this.#pool = pool;
    this.#context = pool.context;
    this.#outage = new OutageLog(pool.context);
    for (const endpoint of pool.endpoints) {
      endpoint.onHead((head) => this.#onAnnounced(endpoint, head));
    }
  }

  /** The highest believed head. An announced block does not count before a poll has read its header. */
  get head(): Header | null {
    const heads = this.#pool.endpoints.flatMap(({ state: { view, isHeadBelieved } }) =>
      view === null || !isHeadBelieved ? [] : [view.head],
    );
    return heads.toSorted((one, other) => other.number - one.number)[0] ?? null;
  }

  get stallMs(): number {
    return Math.max(1_000, chainLimits.stallBlockTimes * this.#blockTimeMs);
  }

  /** Whether the endpoint has had no new block for `stallMs` while another endpoint is ahead. */
  isStalled(endpoint: Endpoint): boolean {
    const isBehind = (endpoint.state.newest?.number ?? -1) < (this.head?.number ?? -1);
    return isBehind && this.#nowMs() - endpoint.state.roseAtMs > this.stallMs;
  }

  /** Polls every endpoint once, and waits for the answers up to `headTimeoutMs`. */
  async pollAll(): Promise<void> {
    const { clock, signal } = this.#context;
    const observed = Promise.all(this.#pool.endpoints.map((endpoint) => this.#tryPoll(endpoint)));
    const deadline = clock.sleep(chainLimits.headTimeoutMs, signal);
    deadline.catch(() => {}); // the source can be closed after the race
    await Promise.race([observed, deadline]);
  }

  async watch(endpoint: Endpoint): Promise<never> {
    for (;;) {
      const sinceMs = this.#nowMs();
      // In small steps, because the interval changes when other endpoints go down or come back.
      do await this.#context.clock.sleep(chainLimits.pollMsMin, this.#context.signal);
      while (this.#nowMs() - sinceMs < this.#intervalMs(endpoint));
      await this.#tryPoll(endpoint);
    }
  }

  #nowMs(): number {
    return this.#context.clock.monotonicMs();
  }

  #intervalMs(endpoint: Endpoint): number {
    const { pollMsMin, pollMsMax, slowPollMsMax } = chainLimits;
    const isAnyAnnouncing = this.#pool.endpoints.some((any) => any.isUsable && any.isAnnouncing);
    const [best] = this.#pool.ranked();
    const isNeeded = best === undefined || (best === endpoint && !isAnyAnnouncing);
    const intervalMs = isNeeded
      ? Math.min(pollMsMax, Math.max(pollMsMin, best === undefined ? 0 : this.#blockTimeMs / 4))
      : Math.min(slowPollMsMax, Math.max(pollMsMax, this.#blockTimeMs));
    // Polling uses only a share of a low rate; the rest is for blocks.
    const callsPerSecond = endpoint.callsPerSecond ?? Number.POSITIVE_INFINITY;
    const frugalMs = (headCalls.length * 1_000) / (pollShareMax * callsPerSecond);
    return Math.max(intervalMs, frugalMs);
  }

  async #tryPoll(endpoint: Endpoint): Promise<void> {
    if (!endpoint.tryProbe()) return;
    // The next socket has not been silent yet.
    if (!endpoint.isAnnouncing) this.#announced.delete(endpoint);
    try {
      await endpoint.verify();
      await this.#poll(endpoint);
      this.#outage.end();
    } catch (thrown) {
      this.#context.signal.throwIfAborted();
      if (thrown instanceof WrongChainError) this.#context.log.error(thrown.message);
      else if (!(thrown instanceof EndpointError)) throw thrown;
      else if (thrown.isAboutData) endpoint.recordBadData(thrown);
      this.#outage.record(toError(thrown).message);
    }
    this.wake.notify();
  }

  async #poll(endpoint: Endpoint): Promise<void> {
    const startedMs = this.#nowMs();
    const before = endpoint.state.view;
    let reported = await this.#askHeads(endpoint, "request");
    // A balancer may have switched to a node of another chain, whose finality would then be believed for good.
    if (isLeap(reported.head, before)) reported = await this.#askHeads(endpoint, "requestOfChain");
    const { head } = reported;
    endpoint.recordView(deriveView({ ...reported, before }));
    this.#judgeHeads();
    const level = (this.head?.number ?? 0) - chainLimits.endpointLagBlocksMax;
    if (head.number >= level) endpoint.recordLevel();
    this.#recordBlockTime();
    const announced = this.#announced.get(endpoint);
    const isOutdated = announced !== undefined && announced.atMs > startedMs;
    if (!isOutdated || head.number >= announced.number) endpoint.recordNewest(head);
    this.#checkSilence(endpoint);
  }

  /** Decides which heads are believed, from the heads of all endpoints that were observed recently. */
  #judgeHeads(): void {
    const observed = this.#pool.endpoints.filter(({ state }) => state.view !== null);
    const max = believedHeadMax(observed.filter((endpoint) => endpoint.isPresent)) ?? 0;
    for (const endpoint of observed) {
      const head = endpoint.state.view?.head.number ?? 0;
      const isBelieved = head <= max;
      if (isBelieved === endpoint.state.isHeadBelieved) continue;
      endpoint.judgeHead(isBelieved);
      const line = { host: endpoint.host, head, believedMax: max };
      if (isBelieved)
        this.#context.log.info(line, "endpoint reports a plausible head again; no longer ignored");
      else {
        this.#context.log.warn(line, "endpoint reports a head far above the others; ignored");
      }
    }
  }

  async #askHeads(endpoint: Endpoint, ask: "request" | "requestOfChain"): Promise<Heads> {
    const startedMs = this.#nowMs();
    try {
      return readHeads(endpoint, await endpoint[ask](headCalls, endpoint.smallTimeout));
    } finally {
      endpoint.recordLatency(this.#nowMs() - startedMs);
    }
  }

  #onAnnounced(endpoint: Endpoint, head: BlockRef): void {
    this.#announced.set(endpoint, { number: head.number, atMs: this.#nowMs() });
    endpoint.recordNewest(head);
    this.wake.notify();
  }

  /** Learns the block time from the believed head, which polls read. Announcements can be of any block. */
  #recordBlockTime(): void {
    const nowMs = this.#nowMs();
    const best = this.#best;
    const number = this.head?.number ?? -1;
    if (number === best?.number) return;
    if (best !== null && number > best.number) {
      const sampleMs = (nowMs - best.atMs) / (number - best.number);
      this.#blockTimeMs += (Math.min(sampleMs, blockTimeMsMax) - this.#blockTimeMs) * 0.2;
    }
    this.#best = { number, atMs: nowMs };
  }

  /** Replaces a subscribed socket that announces nothing while the chain goes on. */
  #checkSilence(endpoint: Endpoint): void {
    if (!endpoint.isAnnouncing) return;
    const nowMs = this.#nowMs();
    const headNumber = this.head?.number ?? -1;
    const announced = this.#announced.get(endpoint);
    if (announced === undefined) {
      this.#announced.set(endpoint, { number: headNumber, atMs: nowMs });
    } else if (announced.number < headNumber && nowMs - announced.atMs > this.stallMs) {
      this.#announced.delete(endpoint);
      endpoint.replaceConnection();
    }
  }
}

type WithHead = {
  readonly state: { readonly view: { readonly head: { readonly number: number } } | null };
};

/**
 * Returns the highest believable head: the upper median of all claims plus `endpointLagBlocksMax`, by which honest
 * endpoints can differ. `null` without a claim.
 */
export function believedHeadMax(endpoints: readonly WithHead[]): number | null {
  const heads = endpoints
    .flatMap(({ state: { view } }) => (view === null ? [] : [view.head.number]))
    .toSorted((one, other) => one - other);
  const median = heads[heads.length >> 1];
  return median === undefined ? null : median + chainLimits.endpointLagBlocksMax;
}

/** Whether the head rose by more blocks than can pass between two polls. */
function isLeap(head: Header, before: EndpointView | null): boolean {
  return before !== null && head.number > before.head.number + chainLimits.endpointLagBlocksMax;
}

function readHeads(endpoint: Endpoint, { replies }: Answer): Heads {
  const [headReply, tagReply] = replies;
  const head = endpoint.readHeader(headReply);
  if (head === null) throw new EndpointError("not_yet", "there is no latest block");
  return { head, tag: tagReply?.kind === "result" ? endpoint.readHeader(tagReply) : null };
}

/** Derives the view of an endpoint, with its final block (R2), from its head and its `finalized` tag if it has one. */
export function deriveView(
  reported: Heads & { readonly before: EndpointView | null },
): EndpointView {
  const { head, tag, before } = reported;
  const finalMax = before?.finalMax ?? -1;
  const standIn = head.number - chainLimits.finalityLagBlocksMax;
  if (tag === null || tag.number < standIn) {
    const final = standIn >= 0 ? { number: standIn, hash: null } : null;
    const warning = tag === null ? "finalized_missing" : "finalized_lagging";
    return { head, final, finalMax, warning };
  }
  // Two calls may have met two branches: the head need not be an ancestor of a higher tag, so its hash is not used.
  const { number, hash } = tag.number > head.number ? { number: head.number, hash: null } : tag;
  const warning = number < finalMax ? "finalized_went_back" : null;
  return { head, final: { number, hash }, finalMax: Math.max(finalMax, number), warning };
}

/** Logs that no endpoint answers while that lasts, doubling the time between two lines. */
class OutageLog {
  readonly #context: ChainContext;
  #answeredAtMs: number;
  #waitMs: number = outageBackoff.firstMs;
  #dueMs: number;

  constructor(context: ChainContext) {
    this.#context = context;
    this.#answeredAtMs = context.clock.monotonicMs();
    this.#dueMs = this.#answeredAtMs + this.#waitMs;
  }

  end(): void {
    if (this.#waitMs > outageBackoff.firstMs)
      this.#context.log.info("an endpoint answers again; indexing continues");
    this.#answeredAtMs = this.#context.clock.monotonicMs();
    this.#waitMs = outageBackoff.firstMs;
    this.#dueMs = this.#answeredAtMs + this.#waitMs;
  }

  record(reason: string): void {
    const nowMs = this.#context.clock.monotonicMs();
    if (nowMs < this.#dueMs) return;
    const seconds = Math.round((nowMs - this.#answeredAtMs) / 1_000);
    this.#context.log.warn({ seconds, reason }, "no endpoint answers; indexing waits, retrying");
    this.#waitMs = Math.min(outageBackoff.maxMs, 2 * this.#waitMs);
    this.#dueMs = nowMs + this.#waitMs;
  }
}
