/** Reads all metrics. The JSON and the text for Prometheus are made from one reading. */

import type { AccessStore } from "../../access/access-store.ts";
import type { Role } from "../../base/config/config.ts";
import { version } from "../../base/config/version.ts";
import type { Log } from "../../base/log.ts";
import type { Latency, LatencyHistogram } from "../../base/metrics/latency-histogram.ts";
import { ProcessMeter } from "../../base/metrics/process-meter.ts";
import { roundToThousandths } from "../../base/round.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Coverage } from "../../chain/raw-log.ts";
import type { AuditStatus } from "../../feed/audit-log.ts";
import type { Auditor } from "../../feed/auditor.ts";
import type { ChainThread } from "../../feed/chain-thread.ts";
import type { Intake } from "../../feed/intake.ts";
import type { Backfill } from "../../feed/sync-progress.ts";
import { nothingIndexed } from "../../rows/freshness.ts";
import { type StoreSize, StoreSizeReader } from "../../storage/engine/store-size.ts";
import { newStreamMeter } from "../../stream/session/stream-meter.ts";
import type { OrderBooks } from "../../venue/books/order-books.ts";
import type { MarketMetadata } from "../../venue/metadata/market-metadata.ts";
import type { IndexedFacts } from "../../views/indexed-facts.ts";
import type { MarketState } from "../../views/markets/market-state.ts";
import type { Metrics, MetricsReading } from "./metrics-schema.ts";
import { RequestMeter, toPercentiles } from "./request-meter.ts";

/** What every process has to report, also before it indexes. */
export type MetricsParts = {
  readonly role: Role;
  readonly chainId: number;
  readonly access: Pick<AccessStore, "audit" | "metrics">;
  /** Reads the state of the cluster; absent outside a cluster. */
  readonly readCluster?: (() => Promise<Metrics["cluster"]>) | undefined;
  readonly clock: Clock;
  readonly log: Log;
};

/** The parts to measure once the service indexes or follows the chain. */
export type MeasuredParts = {
  readonly intake: Intake;
  /** `null` where the chain is followed by another process. */
  readonly chain: ChainThread | null;
  /** `null` where nothing is audited. */
  readonly auditor: Auditor | null;
  /** `null` without a venue. */
  readonly marketMetadata: MarketMetadata | null;
  readonly state: MarketState;
  readonly facts: IndexedFacts;
  readonly books: OrderBooks | null;
};

const readingEveryMs = 30_000;
const readingsMax = 120;

export class ServiceMetrics {
  readonly requests = new RequestMeter();
  readonly stream = newStreamMeter();
  readonly #parts: MetricsParts;
  readonly #process = ProcessMeter.open();
  /** `null` on a standby indexer. */
  #measured: MeasuredParts | null = null;
  #sizes: StoreSizeReader | null = null;
  #readings: readonly MetricsReading[] = [];
  readonly #timer: NodeJS.Timeout;

  private constructor(parts: MetricsParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => void this.#addReading(), readingEveryMs).unref();
  }

  static open(parts: MetricsParts): ServiceMetrics {
    return new ServiceMetrics(parts);
  }

  /** Adds the parts to every later reading. */
  measure(measured: MeasuredParts): void {
    const { clock, log } = this.#parts;
    this.#measured = measured;
    this.#sizes = new StoreSizeReader({ engine: measured.facts.engine, clock, log });
  }

  close(): void {
    clearInterval(this.#timer);
    this.#process.close();
  }

  /** The readings of the last hour, oldest first. */
  get readings(): readonly MetricsReading[] {
    return this.#readings;
  }

  get histograms(): readonly LatencyHistogram<string>[] {
    const stored = this.#measured?.facts.engine.meter.latencies;
    const histograms = [this.requests.latency];
    return stored === undefined ? histograms : [...histograms, stored.query, stored.insert];
  }

  /** Reads the number of missing blocks within the coverage; `null` when the store cannot be read. */
  async readMissingBlocks(): Promise<number | null> {
    return (await this.#sizes?.read())?.missingBlocks ?? null;
  }

  async read(): Promise<Metrics> {
    const { role, chainId, access, readCluster } = this.#parts;
    const measured = this.#measured;
    const books = measured?.books ?? null;
    const size = (await this.#sizes?.read()) ?? null;
    return {
      uptime_seconds: roundToThousandths(process.uptime()),
      version,
      role,
      indexer: { chain_id: chainId, ...getIndexer(measured, size) },
      api: { ...(await this.requests.read()), access_changes: access.audit.counts.toRecord() },
      access: access.metrics,
      cluster: (await readCluster?.()) ?? null,
      stream: { ...this.stream },
      store: await this.#readStore(size),
      books: books === null ? null : { source: books.name, ...books.metrics },
      market_metadata: this.#readMetadata(),
      process: this.#process.read(),
    };
  }

  async #addReading(): Promise<void> {
    const { intake, facts } = this.#measured ?? {};
    const [queries] = (await facts?.engine.meter.latencies.query.read()) ?? [];
    const { memory, event_loop_lag: lag } = this.#process.read();
    const reading = {
      timestamp_ms: this.#parts.clock.nowMs(),
      lag_seconds: intake?.freshness().lag_seconds ?? null,
      events_per_second: intake?.progress.rates?.eventsPerSecond ?? null,
      stream_connections: this.stream.connections,
      resident_memory_bytes: memory.resident_memory_bytes,
      event_loop_lag_p99_ms: lag.p99_ms,
      query_p99_ms: queries?.p99Ms ?? null,
    };
    this.#readings = [...this.#readings, reading].slice(-readingsMax);
  }

  async #readStore(size: StoreSize | null): Promise<Metrics["store"]> {
    const meter = this.#measured?.facts.engine.meter;
    const failures = meter?.failures.toRecord();
    const [queries] = (await meter?.latencies.query.read()) ?? [];
    const [inserts] = (await meter?.latencies.insert.read()) ?? [];
    return {
      tables: size === null ? null : [...size.tables],
      queries: getOperation(queries, failures?.["query"]),
      inserts: getOperation(inserts, failures?.["insert"]),
      answered_by: this.#measured?.facts.reads.toRows() ?? [],
    };
  }

  #readMetadata(): Metrics["market_metadata"] {
    const { clock } = this.#parts;
    const { marketMetadata = null, state } = this.#measured ?? {};
    if (marketMetadata === null || state === undefined) return null;
    const { coverage, progress } = state.venue;
    const { requests, pages, unreadable, errors, isUnavailable } = marketMetadata.status;
    return {
      markets: coverage.known,
      markets_missing: coverage.missing,
      age_seconds:
        progress.openReadAt === null
          ? null
          : Math.max(0, Math.floor(clock.nowMs() / 1000) - progress.openReadAt),
      up: !isUnavailable,
      tokens_unknown: state.directory.unknownTokens.count,
      claims_refused: state.venue.refusedClaims,
      contradictions: coverage.contradictions,
      requests,
      pages,
      unreadable,
      errors,
    };
  }
}

/** Returns the metrics of the indexer. On a standby, every value is 0, `null` or empty. */
function getIndexer(
  measured: MeasuredParts | null,
  size: StoreSize | null,
): Omit<Metrics["indexer"], "chain_id"> {
  const { head_block, indexed_block, finalized_block, lag_seconds } =
    measured?.intake.freshness() ?? nothingIndexed;
  const headAgeMs = measured?.intake.headAgeMs ?? null;
  const arrivalMs = measured?.intake.blockClock.ageMs ?? null;
  const chain = measured?.chain?.status;
  const counts = measured?.intake.counts;
  const progress = measured?.intake.progress;
  const coverage = measured?.facts.coverage ?? null;
  const audit: Partial<AuditStatus> = measured?.auditor?.status ?? {};
  const isKnown = head_block !== null && indexed_block !== null;
  return {
    head_block,
    indexed_block,
    finalized_block,
    lag_blocks: isKnown ? head_block - indexed_block : null,
    lag_seconds,
    head_age_seconds: headAgeMs === null ? null : roundToThousandths(headAgeMs / 1000),
    block_arrival_seconds: arrivalMs === null ? null : roundToThousandths(arrivalMs / 1000),
    coverage: coverage && { from_block: coverage.fromBlock, to_block: coverage.last.number },
    gaps: size?.missingBlocks ?? null,
    unfinalized_blocks: measured?.facts.headBuffer.blocks.length ?? 0,
    audit: getAudit(audit, coverage),
    warnings: [
      ...(chain?.warnings ?? []),
      ...((audit.unverified?.length ?? 0) > 0 ? ["audit_mismatch"] : []),
    ],
    events: counts?.events.toRecord() ?? {},
    trades: counts?.trades ?? 0,
    events_per_second: progress?.rates?.eventsPerSecond ?? null,
    match_anomalies: counts?.anomalies.toRecord() ?? {},
    ledger_rows: counts?.ledger.toRecord() ?? {},
    quarantined_logs: counts?.quarantined.toRecord() ?? {},
    reorgs: chain?.reorgs ?? 0,
    deepest_reorg_blocks: chain?.deepestReorg ?? 0,
    bloom_false_positives: chain?.bloomFalsePositives ?? 0,
    unknown_contracts: measured?.intake.unknownContracts.length ?? 0,
    backfill: getBackfill(progress?.backfill ?? null),
    endpoints: (chain?.endpoints ?? []).map(({ metrics }) => metrics),
  };
}

function getAudit(
  status: Partial<AuditStatus>,
  coverage: Coverage | null,
): Metrics["indexer"]["audit"] {
  const { ranges = 0, blocks = 0, rounds = 0, audited = null, mismatches = 0 } = status;
  const covered = coverage === null ? 0 : coverage.last.number - coverage.fromBlock + 1;
  const from = audited === null ? null : Math.max(audited.from, coverage?.fromBlock ?? 0);
  const roundBlocks = audited === null || from === null ? 0 : audited.to - from + 1;
  return {
    ranges,
    blocks,
    rounds,
    round_progress_ratio:
      covered === 0 ? 0 : Math.min(1, roundToThousandths(roundBlocks / covered)),
    from_block: from,
    to_block: audited?.to ?? null,
    mismatches,
    false_alarms: status.falseAlarms ?? 0,
    repairs: status.repairs ?? 0,
    unverified_ranges: status.unverified?.length ?? 0,
    corrupt_ranges: status.wrong?.length ?? 0,
  };
}

function getBackfill(backfill: Backfill | null): Metrics["indexer"]["backfill"] {
  if (backfill === null) return null;
  const { fromBlock, toBlock, progress, rates, secondsLeft } = backfill;
  return {
    from_block: fromBlock,
    to_block: toBlock,
    progress_ratio: progress,
    blocks_per_second: rates?.blocksPerSecond ?? null,
    remaining_seconds: secondsLeft,
  };
}

function getOperation(latency: Latency | undefined, failures = 0): Metrics["store"]["queries"] {
  return { count: latency?.count ?? 0, failures, ...toPercentiles(latency) };
}
