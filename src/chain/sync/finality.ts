import { chainLimits } from "../../base/config/limits.ts";
import type { Hash } from "../../base/ids.ts";
import { nullIfFailed } from "../chain-errors.ts";
import type { BlockRef } from "../raw-log.ts";
import type { Endpoint } from "../rpc/endpoint.ts";
import type { EndpointView } from "../rpc/endpoint-state.ts";
import { fetchKnownHeaders } from "../verify/fetch-headers.ts";
import type { ChainParts } from "./chain-parts.ts";

/** What finality does once so many endpoints are absent for so long that the others are no majority of all. */
export type MinorityRule = "stop" | "follow";

/** The answer of one endpoint, with the head and the final block that it reported before. */
type Vote = {
  readonly head: number;
  readonly final: number;
  /** Its hashes by number, `null` for a block that it lacks. */
  readonly hashes: ReadonlyMap<number, Hash | null>;
  /** Its hash of our last final block; `null` if it lacks that block. Ours if there is none. */
  readonly base: Hash | null;
};

type Votes = ReadonlyMap<Endpoint, Vote>;

/** The votes about one hash of a block, and the hash of our last final block. */
type Ballot = BlockRef & { readonly votes: Votes; readonly base: Hash | null };

/**
 * Decides which block is final (R2): the highest that more than half of all configured endpoints have at or below the
 * block that each of them reports as final, on top of our last final block. An endpoint that is silent, stalled or
 * behind does not vote and still counts. With the rule `follow`, it stops counting after `finalityAbsenceMsMax`, unless
 * it answers and is on another branch.
 */
export class Finality {
  readonly #parts: ChainParts;
  readonly #rule: MinorityRule;
  #isDisputed = false;
  #awaited: readonly Endpoint[] = [];

  constructor(parts: ChainParts, rule: MinorityRule) {
    this.#parts = parts;
    this.#rule = rule;
  }

  /** Whether endpoints disagree about a block without a majority. */
  get isDisputed(): boolean {
    return this.#isDisputed;
  }

  /** The hosts that finality waits for, because the endpoints that follow the head are no majority. */
  get awaitedHosts(): readonly string[] {
    return this.#awaited.map(({ host }) => host);
  }

  async follow(): Promise<never> {
    for (;;) {
      const { version } = this.#parts.watch.wake;
      if (await this.update()) this.#parts.watch.wake.notify();
      else
        await this.#parts.watch.wake.wait(
          version,
          chainLimits.slowPollMsMax,
          this.#parts.pool.context,
        );
    }
  }

  /** Asks the endpoints which block is final. Returns `true` when another block became final. */
  async update(): Promise<boolean> {
    this.#checkPresence();
    const claims = this.#claims();
    const open = this.#openAgreement;
    const isOutdated =
      open !== null &&
      this.#parts.pool.agreement.endpoints.some((one) => isContradicted(one, open));
    if (claims.length === 0 && !isOutdated) {
      if (this.#awaited.length === 0) this.#isDisputed = false;
      return false;
    }
    const votes = await this.#collect(open === null ? claims : [...claims, open.number]);
    this.#dropIfWithdrawn(votes);
    return this.#decide(claims, votes);
  }

  /** The agreement, if nothing was handed out on it. */
  get #openAgreement(): BlockRef | null {
    const { block } = this.#parts.pool.agreement;
    return block !== null && block.number > this.#stored ? block : null;
  }

  /** The last final block that was handed out; -1 before the first. */
  get #stored(): number {
    return this.#parts.unfinalized.base?.number ?? -1;
  }

  /** The numbers above the agreement that endpoints report as final, the highest first. */
  #claims(): number[] {
    const floor = Math.max(this.#stored, this.#parts.pool.agreement.block?.number ?? -1);
    const claims = this.#parts.pool.endpoints.flatMap(({ isReachable, state: { view } }) =>
      isReachable ? (view?.final?.number ?? []) : [],
    );
    return [...new Set(claims)].filter((number) => number > floor).toSorted((a, b) => b - a);
  }

  /** Asks every endpoint about the blocks that it has. Those that are behind are compared at their own head. */
  async #collect(numbers: readonly number[]): Promise<Votes> {
    const reachable = this.#parts.pool.endpoints.flatMap((endpoint) => {
      const {
        isReachable,
        state: { view },
      } = endpoint;
      return isReachable && view !== null ? [{ endpoint, view }] : [];
    });
    const highest = Math.max(...numbers);
    const heads = reachable.map(({ view }) => view.head.number);
    const all = [...new Set([...numbers, ...heads.filter((head) => head < highest)])];
    const votes = new Map<Endpoint, Vote>();
    const ask = async ({ endpoint, view }: (typeof reachable)[number]): Promise<void> => {
      const requested = all.filter((number) => number <= view.head.number);
      const answer = await this.#ask({ endpoint, view }, requested);
      const final = view.final?.number ?? -1;
      if (answer !== null) votes.set(endpoint, { head: view.head.number, final, ...answer });
    };
    await Promise.all(reachable.map(ask));
    return votes;
  }

  /** Asks in one request for the hashes at `numbers` and at our last final block. `null` without an answer. */
  async #ask(
    { endpoint, view }: { readonly endpoint: Endpoint; readonly view: EndpointView },
    numbers: readonly number[],
  ): Promise<Pick<Vote, "hashes" | "base"> | null> {
    const { unfinalized } = this.#parts;
    const { base } = unfinalized;
    const ourHashes = new Map(numbers.map((number) => [number, unfinalized.hashAt(number)]));
    // If one of its blocks is one of ours, so are its earlier ones: no request is needed.
    const top = [view.head, view.final].find((block) => {
      return block && block.hash !== null && unfinalized.hashAt(block.number) === block.hash;
    });
    const isOurs = ourHashes
      .entries()
      .every(([number, hash]) => hash && number <= (top?.number ?? -1));
    if (isOurs) return { hashes: ourHashes, base: base?.hash ?? null };
    const requested = base === null ? numbers : [...numbers, base.number];
    const request = fetchKnownHeaders(endpoint, requested, endpoint.smallTimeout);
    const headers = await nullIfFailed(request);
    if (headers === null) return null;
    const hashes = new Map(numbers.map((number, index) => [number, headers[index]?.hash ?? null]));
    return { hashes, base: base === null ? null : (headers.at(-1)?.hash ?? null) };
  }

  /** Drops an agreement that endpoints no longer confirm, if those left are no majority. */
  #dropIfWithdrawn(votes: Votes): void {
    const { pool } = this.#parts;
    const open = this.#openAgreement;
    if (open === null) return;
    // One that did not answer, or lacks a block below its head, can still confirm it later.
    const remaining = pool.agreement.endpoints.filter((endpoint) => {
      const vote = votes.get(endpoint);
      const hash = vote?.hashes.get(open.number);
      return (
        vote === undefined || hash === open.hash || (hash === null && vote.head >= open.number)
      );
    });
    if (2 * remaining.length > this.#countedFor(this.#ballot(open, votes))) return;
    pool.dropAgreement();
    pool.context.log.warn(
      { ...open, hosts: pool.agreement.endpoints.map(({ host }) => host) },
      "endpoints no longer confirm the block that they agreed was final; finality waits for a new agreement",
    );
  }

  #decide(claims: readonly number[], votes: Votes): boolean {
    let isDisputed = false;
    for (const number of claims) {
      const hashes = [...votes.values()].flatMap((vote) => vote.hashes.get(number) ?? []);
      for (const hash of new Set(hashes)) {
        const ballot = this.#ballot({ number, hash }, votes);
        const voters = [...votes.values()].filter((vote) => isFor(vote, ballot));
        if (voters.length === 0) continue;
        if (2 * voters.length > this.#countedFor(ballot)) {
          this.#agree(ballot);
          return true;
        }
        isDisputed ||= [...votes.values()].some((vote) => isAgainst(vote, ballot));
      }
    }
    this.#isDisputed = isDisputed;
    return false;
  }

  #ballot(block: BlockRef, votes: Votes): Ballot {
    return { ...block, votes, base: this.#parts.unfinalized.base?.hash ?? null };
  }

  #agree(ballot: Ballot): void {
    const { pool } = this.#parts;
    const { number, hash, votes } = ballot;
    for (const [endpoint, vote] of votes) {
      endpoint.judgeFinal(isAgainst(vote, ballot), number);
    }
    pool.agree({
      block: { number, hash },
      endpoints: [...votes.keys()].filter((endpoint) => !endpoint.state.isOutvoted),
      votesNeeded: (this.#countedFor(ballot) >> 1) + 1,
    });
    this.#isDisputed = false;
  }

  /** How many endpoints a majority is measured against. */
  #countedFor(ballot: Ballot): number {
    const isCounted = (endpoint: Endpoint): boolean => {
      const vote = ballot.votes.get(endpoint);
      const isVoting = vote !== undefined && (isFor(vote, ballot) || isAgainst(vote, ballot));
      return isVoting || !this.#isLeftOut(endpoint);
    };
    return this.#parts.pool.endpoints.filter(isCounted).length;
  }

  #isLeftOut(endpoint: Endpoint): boolean {
    const { clock } = this.#parts.pool.context;
    const absentMs = clock.monotonicMs() - endpoint.state.levelAtMs;
    return this.#rule === "follow" && absentMs > chainLimits.finalityAbsenceMsMax;
  }

  /** Finds out whether the endpoints at the head are a majority, and logs when that changes. */
  #checkPresence(): void {
    const { pool, watch } = this.#parts;
    const level = (watch.head?.number ?? 0) - chainLimits.endpointLagBlocksMax;
    const counted = pool.endpoints.filter((endpoint) => !this.#isLeftOut(endpoint));
    const absent = counted.filter(({ isReachable, state: { view } }) => {
      return !isReachable || view === null || view.head.number < level;
    });
    const before = this.awaitedHosts;
    const isMajority = 2 * (counted.length - absent.length) > counted.length;
    this.#awaited = isMajority || pool.endpoints.length === 1 ? [] : absent;
    const hosts = this.awaitedHosts;
    if (hosts.length === 0 && before.length > 0) {
      pool.context.log.info("a majority of the endpoints is at the head again; finality continues");
    } else if (hosts.length > 0 && before.length === 0) {
      const minutes = chainLimits.finalityAbsenceMsMax / 60_000;
      const then = this.#rule === "stop" ? "" : `; after ${minutes} minutes the others decide`;
      pool.context.log.warn(
        { hosts },
        `finality waits for endpoints that are absent or behind${then}`,
      );
    }
  }
}

/** Whether the endpoint has the block at or below its own final one, on top of our last final block. */
function isFor(vote: Vote, { number, hash, base }: Ballot): boolean {
  return vote.base === base && vote.final >= number && vote.hashes.get(number) === hash;
}

/** Whether the endpoint is on another branch than the block. One that is behind is compared at its head. */
function isAgainst(vote: Vote, { number, hash, base, votes }: Ballot): boolean {
  const height = Math.min(number, vote.head);
  const own = vote.hashes.get(height) ?? null;
  const others = [...votes.values()].filter((other) => other.hashes.get(number) === hash);
  const theirs = others.flatMap((other) => other.hashes.get(height) ?? []);
  const isDenying = vote.base !== null && vote.base !== base;
  return isDenying || (own !== null && theirs.some((other) => other !== own));
}

/** Whether what an endpoint reports no longer fits to `agreed`, so that it is asked again. */
function isContradicted({ isReachable, state: { view } }: Endpoint, agreed: BlockRef): boolean {
  if (!isReachable || view === null) return false;
  const { head, final, finalMax } = view;
  const number = final?.number ?? -1;
  if (head.number < agreed.number || number < Math.min(agreed.number, finalMax)) return true;
  // The number alone is known of a final block that is not that of the tag.
  if (!final?.hash) return number < agreed.number;
  return number === agreed.number && final.hash !== agreed.hash;
}
