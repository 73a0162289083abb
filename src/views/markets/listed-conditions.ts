/**
 * The conditions with the columns that lists and searches read. A mirror is part of the market of its legacy condition:
 * the row of that market has the sums of both, and the mirror has no row.
 */
import { type ConditionId, type Seq, type TokenId, toFirstSeq } from "../../base/ids.ts";
import type { Contracts } from "../../contracts/contracts.ts";
import { JournaledMap } from "../disk/journaled-map.ts";
import type { StateStore } from "../disk/state-store.ts";
import type { UndoLog } from "../disk/undo-log.ts";
import { getOpenInterest } from "../prices/market-interest.ts";
import { type Condition, Conditions } from "./conditions.ts";
import { MarketColumns, marketFlags } from "./market-columns.ts";

/** Called with each token of a condition that becomes known or changes its market, and with the market's ordinal. */
export type OnToken = (tokenId: TokenId, ordinal: number) => void;

/** How many conditions can quote the text of another one, and how deep quotes of quotes are followed. */
const dependentsMax = 1000;
const quotesDepthMax = 2;

export class ListedConditions extends Conditions {
  readonly columns: MarketColumns;
  /** By condition, the conditions that quote its text. */
  readonly #dependents: JournaledMap<ConditionId, readonly ConditionId[]>;
  readonly #journal: UndoLog;
  readonly #onToken: OnToken;

  constructor(contracts: Contracts, stateStore: StateStore, onToken: OnToken) {
    super(contracts, stateStore);
    this.#journal = stateStore.journal;
    this.#onToken = onToken;
    this.#dependents = new JournaledMap(stateStore, "dependents");
    this.columns = new MarketColumns(stateStore);
  }

  /** The markets with a slug of the venue; more than one only if the venue uses the slug twice. */
  bySlug(slug: string): readonly ConditionId[] {
    const found = this.columns.withLabel("slug", slug);
    const ids = found.map((ordinal) => this.getMarketId(this.columns.conditionIdAt(ordinal)));
    return [...new Set(ids)];
  }

  /** The index of a condition in the columns; `null` when the condition is unknown. */
  getOrdinal(conditionId: ConditionId): number | null {
    return this.conditions.get(conditionId)?.ordinal ?? null;
  }

  /** The index of a condition's market in the columns; `null` when the condition is unknown. */
  getMarketOrdinal(conditionId: ConditionId): number | null {
    return this.getOrdinal(this.getMarketId(conditionId));
  }

  /** Returns the conditions that became markets after a position, each with its own position, in chain order. */
  listedAfter(after: number): { readonly seq: number; readonly conditionId: ConditionId }[] {
    const { columns } = this;
    const found: { seq: number; conditionId: ConditionId }[] = [];
    for (let ordinal = 0; ordinal < columns.count; ordinal += 1) {
      const flags = columns.flags.get(ordinal);
      if ((flags & marketFlags.listed) === 0) continue;
      const isMirrored = (flags & marketFlags.mirrored) !== 0;
      const seq = isMirrored ? this.#getListedSeq(ordinal) : columns.listedSeq.get(ordinal);
      // Markets that only the venue has named have no position.
      if (seq > after && seq > 0) found.push({ seq, conditionId: columns.conditionIdAt(ordinal) });
    }
    return found.toSorted((a, b) => a.seq - b.seq);
  }

  /** The position at which a condition with a mirror became a market: its own, or that of its mirror. */
  #getListedSeq(ordinal: number): number {
    const { listedSeq } = this.columns;
    const condition = this.conditions.get(this.columns.conditionIdAt(ordinal));
    const mirror = condition?.pairedId && this.conditions.get(condition.pairedId);
    const listedAt = listedSeq.get(ordinal) || Infinity;
    if (condition === undefined || !mirror) return listedAt;
    return Math.min(listedAt, Math.max(condition.createdSeq, listedSeq.get(mirror.ordinal)));
  }

  protected addCondition(fields: Omit<Condition, "ordinal">): Condition {
    const { conditionId, tokenIds } = fields;
    const ordinal = this.getOrdinal(conditionId) ?? this.columns.add(conditionId);
    const condition = { ...fields, ordinal };
    this.conditions.set(conditionId, condition);
    for (const [outcomeIndex, tokenId] of tokenIds.entries()) {
      this.slots.set(tokenId, { conditionId, outcomeIndex });
      this.#onToken(tokenId, this.getMarketOrdinal(conditionId) ?? ordinal);
    }
    this.columns.set(this.columns.createdAt, ordinal, condition.createdAt);
    this.updateListing(condition, condition.createdSeq);
    this.updateSumColumns(condition);
    this.updateTexts(conditionId);
    return condition;
  }

  /**
   * The position of the newest log that decides which tokens a condition's market has, and whether all their transfers are
   * indexed; -1 for an unknown condition.
   */
  getDefinitionSeq(conditionId: ConditionId): number {
    const seqs = this.conditionsOfMarket(conditionId).flatMap((id) => {
      const { createdSeq = -1, gen3 = null } = this.conditions.get(id) ?? {};
      const announced = gen3 === null ? null : this.gen3.getAnnouncedSeq(gen3.eventId);
      const registered = this.mirrors.getRegisteredBlock(id);
      // The result of a mirror can link it, too.
      const resolved = this.getResolution(id)?.seq ?? -1;
      return [
        createdSeq,
        announced ?? -1,
        registered === null ? -1 : toFirstSeq(registered),
        resolved,
      ];
    });
    return Math.max(...seqs);
  }

  /** Makes conditions of generation 3 the mirrors of their legacy conditions, or ends that, by what is known now. */
  protected pairAll(conditionIds: readonly ConditionId[]): void {
    for (const conditionId of conditionIds) {
      const mirror = this.conditions.get(conditionId);
      if (mirror === undefined || mirror.gen3 === null) continue;
      const legacyId = this.mirrors.findLegacy(conditionId);
      if (legacyId !== (mirror.pairedId ?? null)) this.#pair(mirror, legacyId);
      // Its event can have changed.
      this.updateTexts(conditionId);
    }
  }

  #pair(mirror: Condition, legacyId: ConditionId | null): void {
    const { conditionId, tokenIds } = mirror;
    const before = this.getMarketOrdinal(conditionId) ?? mirror.ordinal;
    const unpaired = this.#setPaired(mirror.pairedId, undefined);
    const joined = this.#setPaired(legacyId ?? undefined, conditionId);
    const paired = this.#setPaired(conditionId, legacyId ?? undefined);
    const after = joined?.ordinal ?? mirror.ordinal;
    const setOrdinal = (ordinal: number) => {
      for (const tokenId of tokenIds) this.#onToken(tokenId, ordinal);
    };
    this.#journal.addChange({ undo: () => setOrdinal(before), redo: () => setOrdinal(after) });
    setOrdinal(after);
    for (const condition of [unpaired, paired, joined]) {
      if (condition === undefined) continue;
      this.markRepeats(condition);
      this.#updateFlags(condition);
      this.updateSumColumns(condition);
      this.updateTexts(condition.conditionId);
    }
  }

  #setPaired(
    conditionId: ConditionId | undefined,
    pairedId: ConditionId | undefined,
  ): Condition | undefined {
    const existing = conditionId === undefined ? undefined : this.conditions.get(conditionId);
    if (existing === undefined) return undefined;
    const condition = { ...existing, pairedId };
    this.conditions.set(existing.conditionId, condition);
    return condition;
  }

  /** Marks the later result of a market and its mirror. */
  protected markRepeats({ conditionId, gen3, pairedId }: Condition): void {
    const [own, other] = [conditionId, pairedId].map((id) => id && this.getResolution(id));
    if (!own) return;
    const isLater = other && (own.seq > other.seq || (own.seq === other.seq && gen3 !== null));
    this.resolutions.markRepeat(conditionId, isLater === true);
  }

  /** Updates the flags of a condition, and since when it is a market, after the event or trade at `seq`. */
  protected updateListing(condition: Condition, seq: Seq): void {
    const { ordinal } = condition;
    if (this.isListed(condition) && condition.adoptedAs === undefined) {
      // While loading, trades come after events. The earliest position of all made the condition a market.
      const listedSeq = this.columns.listedSeq.get(ordinal);
      const since = Math.max(condition.createdSeq, seq);
      if (listedSeq === 0 || listedSeq > since) {
        this.columns.set(this.columns.listedSeq, ordinal, since);
      }
    }
    this.#updateFlags(condition);
  }

  /** Updates the flags of a condition in the columns, and those of the market that it is the mirror of. */
  #updateFlags(condition: Condition): void {
    const { conditionId, ordinal, gen3, pairedId } = condition;
    const isMirror = gen3 !== null && pairedId !== undefined;
    const isMirrored = gen3 === null && pairedId !== undefined;
    const isListed = !isMirror && (isMirrored || this.isListed(condition));
    const isResolved =
      this.getResolution(conditionId) !== null ||
      (isMirrored && this.getResolution(pairedId) !== null);
    const bits = [
      isListed ? marketFlags.listed : 0,
      isResolved ? marketFlags.resolved : 0,
      this.isNegRisk(condition) ? marketFlags.negRisk : 0,
      isMirrored ? marketFlags.mirrored : 0,
    ];
    this.columns.set(
      this.columns.flags,
      ordinal,
      bits.reduce((flags, bit) => flags | bit),
    );
    if (isResolved) this.columns.set(this.columns.liquidityUsd, ordinal, 0);
    const legacy = isMirror ? this.conditions.get(pairedId) : undefined;
    if (legacy !== undefined) this.#updateFlags(legacy);
  }

  /** The tokens of each outcome of a condition's market: its own, and that of its mirror. */
  #getOutcomes({ tokenIds, gen3, pairedId }: Condition): readonly (readonly TokenId[])[] {
    const mirror = gen3 === null && pairedId ? this.conditions.get(pairedId) : undefined;
    return tokenIds.map((id, index) => [id, ...(mirror?.tokenIds.slice(index, index + 1) ?? [])]);
  }

  /** Updates volume, last trade and open interest of a condition in the columns, and those of the market it mirrors. */
  protected updateSumColumns(condition: Condition): void {
    const { ordinal, gen3, pairedId } = condition;
    const paired = pairedId === undefined ? undefined : this.conditions.get(pairedId);
    const outcomes = this.#getOutcomes(condition);
    const totals = outcomes.flat().map((tokenId) => this.getTotals(tokenId));
    const volumeUsd = totals.reduce((sum, one) => sum + one.volumeUsd, 0n);
    const lastTradeAt = Math.max(0, ...totals.map((one) => one.lastTimestamp));
    this.columns.set(this.columns.volumeUsd, ordinal, Number(volumeUsd));
    this.columns.set(this.columns.lastTradeAt, ordinal, lastTradeAt);
    const interest = getOpenInterest(outcomes, this);
    this.columns.set(this.columns.openInterest, ordinal, Number((interest ?? -1n) + 1n));
    if (gen3 !== null && paired !== undefined) this.updateSumColumns(paired);
  }

  /** Updates the texts of a condition in the columns, and those of conditions that quote it. */
  protected updateTexts(conditionId: ConditionId, depth = 0): void {
    const { pairedId } = this.conditions.get(conditionId) ?? {};
    // A market has the texts of its mirror where it has none.
    const changed = pairedId === undefined ? [conditionId] : [conditionId, pairedId];
    for (const id of changed) this.#setTexts(id);
    if (depth >= quotesDepthMax) return;
    const quoting = changed.flatMap((id) => this.#dependents.get(id) ?? []);
    for (const other of quoting) this.updateTexts(other, depth + 1);
  }

  #setTexts(conditionId: ConditionId): void {
    const condition = this.conditions.get(conditionId);
    if (condition === undefined) return;
    const market = this.describeMarket(condition);
    this.columns.setTexts(condition.ordinal, market);
    this.columns.set(this.columns.endMs, condition.ordinal, market.venue?.endMs ?? 0);
  }

  /** Records that the text of a condition quotes the texts of others. */
  protected addDependencies(conditionId: ConditionId, others: readonly ConditionId[]): void {
    for (const other of others) {
      const existing = this.#dependents.get(other) ?? [];
      if (existing.includes(conditionId) || existing.length >= dependentsMax) continue;
      this.#dependents.set(other, [...existing, conditionId]);
    }
  }
}
