/**
 * The durable log of facts and the tail above it. Blocks that are final go to the engine, in the
 * order facts, then commit record; blocks that are not are held in memory until they are. Reads see both
 * as one: everything up to `coverage.last` from the engine, everything above from the tail.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { assert } from "../base/assert.ts";
import { settleAll } from "../base/time/settle-all.ts";
import type { BlockFacts } from "../market/block-facts.ts";
import { type Delta, deltaOf } from "../market/delta.ts";
import {
  deriveMinuteCandles,
  type MinuteCandle,
  MinuteCandles,
  minuteOf,
} from "../market/minute-candle.ts";
import { ChartFile, dropChartFile } from "../views/charts/chart-file.ts";
import { ChartReader } from "../views/charts/chart-reader.ts";
import { ChartRollup } from "../views/charts/chart-rollup.ts";
import { dropMarketsFile } from "../views/disk/markets-file.ts";
import { HeadBuffer } from "../views/head/head-buffer.ts";
import { RecentCandles } from "../views/recent/recent-candles.ts";
import { RecentFills } from "../views/recent/recent-fills.ts";
import { AppendGroup } from "./append-group.ts";
import { decodeDelta } from "./codec/decode-delta.ts";
import {
  type BatchHead,
  type EncodedBatch,
  encodeCommit,
  encodeFacts,
} from "./codec/encode-facts.ts";
import { ChdbEngine } from "./embedded/chdb-engine.ts";
import type { Engine } from "./engine.ts";
import { MeteredEngine } from "./metered-engine.ts";
import {
  type Coverage,
  firstSeqAbove,
  recover,
  trimAbove,
  verifyNewestCommits,
} from "./recover.ts";
import { ReorgLog } from "./reorg-log.ts";
import { schemaStatements } from "./schema.ts";
import { integerLiteral } from "./sql-literal.ts";
import { readStoredFills } from "./stored-fills.ts";
import { untilAdmitted } from "./until-admitted.ts";

export class FactStore {
  readonly engine: MeteredEngine;
  readonly headBuffer = new HeadBuffer();
  /** What was read lately of what is final, kept up with every append. */
  readonly recentFills = new RecentFills();
  readonly recentCandles = new RecentCandles();
  /** Candles of the days that are over; `chartRollup` keeps them up with every append. */
  readonly charts: ChartFile;
  readonly chartReader: ChartReader;
  readonly chartRollup: ChartRollup;
  /** What was served before it was final, and may have been replaced since. */
  readonly reorgs: ReorgLog;
  #coverage: Coverage | null;
  /** The block that the newest append ends with, also while it is under way. */
  #writtenThrough: number | null;
  #appends = 0;
  #openMinutes: readonly MinuteCandle[];
  /** Resolves when nothing is left in the engine above the coverage it was opened with. */
  readonly trimmed: Promise<void>;

  private constructor(
    engine: MeteredEngine,
    coverage: Coverage | null,
    parts: Pick<FactStore, "openMinutes" | "charts" | "chartReader" | "reorgs">,
  ) {
    this.engine = engine;
    this.#coverage = coverage;
    this.#writtenThrough = coverage?.last.number ?? null;
    this.#openMinutes = parts.openMinutes;
    this.chartReader = parts.chartReader;
    this.charts = parts.charts;
    this.chartRollup = new ChartRollup(engine, parts.charts);
    this.reorgs = parts.reorgs;
    this.trimmed = untilAdmitted(() => trimAbove(engine, coverage));
    // Who waits for it is sent.
    this.trimmed.catch(() => {});
  }

  /**
   * Opens the store in a data folder, making it when it does not exist. What a crash left above the
   * newest commit record is no part of it, and is trimmed meanwhile. Throws `DataFolderBusyError` or
   * `DataFolderDamagedError`.
   */
  static async open(dataDir: string): Promise<FactStore> {
    await mkdir(dataDir, { recursive: true });
    const engine = new MeteredEngine(ChdbEngine.open(join(dataDir, "facts")));
    try {
      for (const statement of schemaStatements) await engine.command(statement);
      const coverage = await recover(engine, () => dropCopies(dataDir));
      const minutes = readOpenMinutes(engine, coverage);
      await settleAll([verifyNewestCommits(engine), minutes]);
      const reorgs = await ReorgLog.open(engine, coverage?.last.number ?? -1);
      const chartReader = new ChartReader(dataDir);
      const charts = ChartFile.open(dataDir, coverage?.last.timestamp ?? 0, chartReader);
      return new FactStore(engine, coverage, {
        openMinutes: await minutes,
        charts,
        chartReader,
        reorgs,
      });
    } catch (thrown) {
      // A folder that is refused must not stay locked.
      await engine.close();
      throw thrown;
    }
  }

  /** What is stored for good; `null` before the first append. */
  get coverage(): Coverage | null {
    return this.#coverage;
  }

  /**
   * The candles of the minute coverage ends in. The engine holds them too, but only the minutes
   * before are complete there; reads take this one from here and the rest from there, so that an
   * append in between cannot be counted twice.
   */
  get openMinutes(): readonly MinuteCandle[] {
    return this.#openMinutes;
  }

  /** Rises with every append. */
  get appends(): number {
    return this.#appends;
  }

  /** Rises with every change of what reads can find, or of what of it is final. */
  get revision(): number {
    return this.#appends + this.headBuffer.revision;
  }

  /** The number of the newest block indexed, final or not; `null` before the first. */
  get newestBlock(): number | null {
    return this.headBuffer.newest?.number ?? this.#coverage?.last.number ?? null;
  }

  /**
   * Appends the facts of final blocks, which must go on where the last append ended. Durable when
   * it resolves; when it rejects, the store must be closed: `open` will trim what was half written.
   */
  async append(batch: EncodedBatch): Promise<void> {
    this.#refuseBelowTail();
    await this.#insert(batch);
    this.cover(batch, decodeDelta(batch));
  }

  /** Room for batches that follow each other, which are then appended in the steps below; to be closed. */
  openGroup(): AppendGroup {
    return new AppendGroup(this.engine);
  }

  /**
   * The first step: their facts. May be taken while those before are committed: a start trims
   * whatever is above the newest commit record.
   */
  async writeFacts(group: AppendGroup): Promise<void> {
    this.#refuseBelowTail();
    await this.#insertFacts(group);
  }

  /**
   * The second step, once their facts are there, and in order: the minutes, then the commit record. Fills
   * without a commit record report a start to make their minutes again, so minutes never come before them.
   */
  async commit(group: AppendGroup): Promise<void> {
    await group.insert(["minuteCandles"]);
    await this.engine.insert("oddwire.commits", encodeCommit(group.batches));
  }

  /** The last step, for each batch in order: from now on reads find it. */
  cover(batch: BatchHead, delta: Delta): void {
    this.#cover(batch, delta);
    this.recentFills.forget(new Set(delta.candles.map(({ tokenId }) => tokenId)));
  }

  /** Moves the tail's blocks up to and including `block` to the engine. */
  async finalize(block: number): Promise<void> {
    const final = this.headBuffer.through(block);
    const [first, last] = [final[0], final.at(-1)];
    if (first === undefined || last === undefined) return;
    const range = { fromBlock: first.number, toBlock: last.number, last: refOf(last) };
    const batch = encodeFacts(range, final);
    await this.#insert(batch);
    // In one go: a read must see each row in the engine or in the tail, never in both.
    this.#cover(batch, deltaOf(final));
    this.recentFills.add(final.flatMap(({ fills }) => fills));
    this.headBuffer.dropThrough(block);
  }

  #refuseBelowTail(): void {
    assert(this.headBuffer.newest === null, "nothing is appended below blocks that are held");
  }

  async #insert(batch: EncodedBatch): Promise<void> {
    const group = this.openGroup();
    try {
      await group.add(batch);
      await this.#insertFacts(group);
      await this.commit(group);
    } finally {
      await group.close();
    }
  }

  async #insertFacts(group: AppendGroup): Promise<void> {
    await Promise.all([this.trimmed, this.reorgs.written]);
    this.chartRollup.check();
    for (const { fromBlock, toBlock } of group.batches) {
      const written = this.#writtenThrough;
      assert(
        written === null || fromBlock === written + 1,
        "an append goes on where the last one ended",
      );
      this.#writtenThrough = toBlock;
    }
    await group.insert(["fills", "events", "quarantine"]);
  }

  #cover({ fromBlock, last }: BatchHead, { candles }: Delta): void {
    this.#appends += 1;
    this.#coverage = { fromBlock: this.#coverage?.fromBlock ?? fromBlock, last };
    const open = new MinuteCandles();
    const openFrom = minuteOf(last.timestamp);
    for (const candle of [...this.#openMinutes, ...candles]) {
      if (candle.minute >= openFrom) open.merge(candle);
    }
    this.#openMinutes = open.values();
    this.recentCandles.add(candles);
    this.chartRollup.advance(last.timestamp);
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.trimmed, this.reorgs.written]);
    await this.chartRollup.close();
    await this.chartReader.close();
    this.charts.close();
    await this.engine.close();
  }
}

async function readOpenMinutes(
  engine: Engine,
  coverage: Coverage | null,
): Promise<readonly MinuteCandle[]> {
  if (coverage === null) return [];
  const fills = await readStoredFills(
    engine,
    "fills",
    `WHERE timestamp >= ${integerLiteral(minuteOf(coverage.last.timestamp))}
       AND seq < ${integerLiteral(firstSeqAbove(coverage))}`,
  );
  return deriveMinuteCandles(fills);
}

/** Throws away what was made of the facts, before some of them are changed. */
export function dropCopies(dataDir: string): void {
  dropMarketsFile(dataDir);
  dropChartFile(dataDir);
}

function refOf({ number, hash, timestamp }: BlockFacts): Coverage["last"] {
  return { number, hash, timestamp };
}
