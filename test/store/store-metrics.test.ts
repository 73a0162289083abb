/** The metrics of the store and the pipeline. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { storeLimits } from "../../src/base/config/limits.ts";
import { AppError } from "../../src/base/errors.ts";
import { type Hash, toFirstSeq } from "../../src/base/ids.ts";
import { openLog } from "../../src/base/log.ts";
import { type Clock, systemClock } from "../../src/base/time/clock.ts";
import type { RawLog } from "../../src/chain/raw-log.ts";
import { Pipeline } from "../../src/feed/pipeline.ts";
import { type BlockFacts, emptyBlock } from "../../src/market/block-facts.ts";
import { RowWriter } from "../../src/storage/codec/row-writer.ts";
import { EngineMeter } from "../../src/storage/engine/engine-meter.ts";
import { StoreSizeReader } from "../../src/storage/engine/store-size.ts";
import { MarketState } from "../../src/views/markets/market-state.ts";
import { appendFacts } from "../support/append-facts.ts";
import { MemoryStateStore } from "../support/memory-state-store.ts";
import { knownContracts } from "../support/recorded-chain.ts";
import { encode } from "../support/store-chain.ts";
import { StoreFolder } from "../support/store-folder.ts";

const log = openLog({ level: "silent" });
const hash = `0x${"ab".repeat(32)}` as Hash;

function blockAt(number: number, facts: Partial<BlockFacts> = {}): BlockFacts {
  return { ...emptyBlock, number, hash, timestamp: 1_700_000_000 + number, ...facts };
}

/** A quarantined log. */
function unreadable(number: number, reason: string): BlockFacts["quarantined"][number] {
  const { seq, timestamp } = { seq: toFirstSeq(number), timestamp: 1_700_000_000 + number };
  return { seq, timestamp, reason, log: {} as RawLog };
}

/** The tables that only a database on a server has. Its views have no size. */
const ofServers = new Set(["access_log", "claims", "identity", "market_metadata", "repairs"]);

test("sizes are read from the tables, and cached until they are too old", async (t) => {
  const { store } = await StoreFolder.open(t);
  let atMs = 0;
  const clock = { ...systemClock, monotonicMs: () => atMs };
  const sizes = new StoreSizeReader({ engine: store.engine, clock, log });
  const empty = await sizes.read();
  assert.deepEqual(empty?.missingBlocks, 0);
  assert.deepEqual(
    empty.tables
      .filter(({ table }) => !ofServers.has(table))
      .map(({ table, rows }) => [table, rows]),
    [
      ["balance_changes", 0],
      ["commits", 0],
      ["events", 0],
      ["fills", 0],
      ["fills_by_token", 0],
      ["hour_candles", 0],
      ["ledger", 0],
      ["minute_candles", 0],
      ["quarantine", 0],
      ["reorgs", 0],
      ["repaired_blocks", 0],
      ["served_heads", 0],
    ],
  );
  await appendFacts(
    store,
    encode([blockAt(5), blockAt(9, { quarantined: [unreadable(9, "odd")] })]),
  );
  atMs = storeLimits.sizeKeptMs - 1;
  assert.equal(await sizes.read(), empty);
  atMs += 1;
  const filled = await sizes.read();
  const rows = new Map(filled?.tables.map((size) => [size.table, size]));
  assert.equal(rows.get("quarantine")?.rows, 1);
  assert.equal(rows.get("commits")?.rows, 1);
  assert.ok((rows.get("quarantine")?.bytes ?? 0) > 0 && rows.get("quarantine")?.parts === 1);
  assert.equal(filled?.missingBlocks, 0);
});

test("blocks without a commit record are counted as missing", async (t) => {
  const { store } = await StoreFolder.open(t);
  await appendFacts(store, encode([blockAt(5), blockAt(9)]));
  await store.engine.command(
    `INSERT INTO commits SELECT 13, 20, last_hash, 1, 0, 0, 0, 0, 0, 0 FROM commits`,
  );
  const sizes = new StoreSizeReader({ engine: store.engine, clock: systemClock, log });
  assert.equal((await sizes.read())?.missingBlocks, 3);
});

function refuse(): Promise<never> {
  return Promise.reject(new AppError("SERVICE_UNAVAILABLE"));
}

/** An engine whose methods all do the same. */
function getEngine(answer: () => Promise<never>) {
  return {
    kind: "embedded" as const,
    hasWallets: true,
    meter: new EngineMeter(),
    query: answer,
    queryBinary: answer,
    command: answer,
    openRows: answer,
    insert: answer,
    close: answer,
  };
}

test("sizes are null without an error if the store does not answer, which is logged once, and are read again soon", async () => {
  let requested = 0;
  const engine = getEngine(() => {
    requested += 1;
    return refuse();
  });
  let atMs = 0;
  const clock = { ...systemClock, monotonicMs: () => atMs };
  const warnings: string[] = [];
  const warning = pino({ level: "warn" }, { write: (line) => warnings.push(line) });
  const sizes = new StoreSizeReader({ engine, clock, log: warning });
  for (const [ms, expected] of [
    [0, 1],
    [storeLimits.sizeRetryMs - 1, 1],
    [storeLimits.sizeRetryMs, 2],
  ] as const) {
    atMs = ms;
    assert.equal(await sizes.read(), null);
    assert.equal(requested, expected);
  }
  assert.equal(warnings.length, 1);
});

test("sizes are null while the store hangs, and one query waits for it", async (t) => {
  const { store } = await StoreFolder.open(t);
  const hanging = Promise.withResolvers<void>();
  let requested = 0;
  const query = async (sql: string) => {
    requested += 1;
    await hanging.promise;
    return store.engine.query(sql);
  };
  let atMs = 0;
  let waitMs = 0;
  const sleep: Clock["sleep"] = (_ms, signal) => systemClock.sleep(waitMs, signal);
  const clock = { ...systemClock, monotonicMs: () => atMs, sleep };
  const sizes = new StoreSizeReader({ engine: { ...getEngine(refuse), query }, clock, log });
  assert.equal(await sizes.read(), null);
  atMs = storeLimits.sizeKeptMs;
  assert.equal(await sizes.read(), null);
  assert.equal(requested, 1);
  hanging.resolve();
  waitMs = 60_000;
  assert.equal((await sizes.read())?.missingBlocks, 0);
});

test("queries and inserts are timed, and failures are counted", async (t) => {
  const { engine } = (await StoreFolder.open(t)).store;
  const counted = async () => {
    const [queries] = await engine.meter.latencies.query.read();
    const [inserts] = await engine.meter.latencies.insert.read();
    return { queries: queries?.count ?? 0, inserts: inserts?.count ?? 0 };
  };
  const before = await counted();
  assert.ok(before.queries > 0, "recovery asks the tables");
  await engine.query("SELECT 1");
  await engine.insert(
    "quarantine",
    new RowWriter().uint64(1).uint32(1).text("a reason").text("{}").finish(),
  );
  await engine.insert("quarantine", Buffer.alloc(0));
  assert.deepEqual(await counted(), { queries: before.queries + 1, inserts: before.inserts + 1 });
  await assert.rejects(engine.query("SELECT nothing_like_that"));
  await assert.rejects(engine.insert("no_table", Buffer.from("1\n")));
  assert.deepEqual(engine.meter.failures.toRecord(), { query: 1, insert: 1 });
  assert.deepEqual(await counted(), { queries: before.queries + 1, inserts: before.inserts + 1 });
});

test("anomalies and quarantined logs are counted by kind, in unfinalized and final blocks", async (t) => {
  const { store } = await StoreFolder.open(t);
  const pipeline = new Pipeline({
    facts: store,
    state: new MarketState(knownContracts(), new MemoryStateStore()),
    log,
  });
  const anomaly = { seq: toFirstSeq(1), kind: "impossible_pairing" } as const;
  const final = blockAt(1, { anomalies: [anomaly], quarantined: [unreadable(1, "one reason")] });
  const unfinalized = blockAt(2, {
    anomalies: [anomaly, { ...anomaly, kind: "refund_without_fill" }],
    quarantined: [unreadable(2, "one reason"), unreadable(2, "another")],
  });
  await pipeline.run(
    (async function* () {
      yield { kind: "range" as const, batch: encode([final]), more: false };
      yield { kind: "block" as const, block: unfinalized };
      yield { kind: "finalized" as const, block: 2 };
    })(),
  );
  const { anomalies, quarantined } = pipeline.status;
  assert.deepEqual(anomalies.toRecord(), { impossible_pairing: 2, refund_without_fill: 1 });
  assert.deepEqual(quarantined.toRecord(), { "one reason": 2, another: 1 });
});
