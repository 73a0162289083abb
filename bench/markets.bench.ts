/**
 * Lists and searches over all markets, as the route answers them, and the cost of holding the markets: one process
 * builds the copy on disk, a second one starts from it as after a crash. Texts consist of 60,000 words whose
 * frequencies are as uneven as in a language. Next to latency the output has the processor time of the process, since
 * other load slows the clock, and the longest turn of the event loop, in which all other requests wait. `MARKETS`
 * (default 200,000) is their number; the venue had 1,500,000 in 2026. A folder and `build` only builds the copy
 * there, a folder alone only measures it. Building 1,500,000 markets takes a quarter of an hour, once.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as queue } from "node:timers";
import { setImmediate } from "node:timers/promises";
import { Cursors } from "../src/api/route/cursor.ts";
import { listMarkets } from "../src/api/routes/read/list-markets.ts";
import {
  type Address,
  type ConditionId,
  type Seq,
  type TokenId,
  zeroHash,
} from "../src/base/ids.ts";
import { systemClock } from "../src/base/time/clock.ts";
import { type Contracts, parseContracts } from "../src/contracts/contracts.ts";
import { polygonContracts } from "../src/contracts/polygon-contracts.ts";
import type { LocatedEvent } from "../src/market/block-facts.ts";
import type { Delta } from "../src/market/delta.ts";
import type { Trade } from "../src/market/fill.ts";
import { deriveGen3TokenIds } from "../src/market/ids/gen3-ids.ts";
import { toWord } from "../src/market/ids/keccak.ts";
import { MarketsFile } from "../src/views/disk/markets-file.ts";
import { MarketState } from "../src/views/markets/market-state.ts";
import { QueryReads } from "../src/views/query-reads.ts";
import { deriveNativeEventId } from "../test/support/derive-gen3-ids.ts";
import type { ListPage } from "../test/support/open-data-server.ts";
import { SeededRandom } from "../test/support/seeded-random.ts";

const markets = Number(process.env["MARKETS"] ?? 200_000);
const rounds = Number(process.env["ROUNDS"] ?? 40);
const marketsPerBlock = 500;
const sorts = [
  "volume_24h",
  "volume",
  "trades_24h",
  "change_24h",
  "liquidity",
  "created_at",
  "end_date",
  "last_trade_at",
] as const;
const contracts = knownContracts();
const nobody = `0x${"11".repeat(20)}` as Address;
const random = new SeededRandom(7);
const vocabulary = Array.from({ length: 60_000 }, () => makeWord());

const [folder, part] = process.argv.slice(2);
if (folder === undefined) await compareAll();
else if (part === "build") await build(folder);
else await measure(folder);

async function compareAll(): Promise<void> {
  const path = mkdtempSync(join(tmpdir(), "oddwire-bench-"));
  try {
    const args = [import.meta.filename, path, "build"];
    const made = spawnSync(process.execPath, args, { stdio: "inherit" });
    if (made.status !== 0) throw new Error("the copy could not be made");
    await measure(path);
  } finally {
    rmSync(path, { recursive: true });
  }
}

async function build(path: string): Promise<void> {
  const startedAt = performance.now();
  mkdirSync(path, { recursive: true });
  const file = open(path);
  const state = new MarketState(contracts, file);
  const blocks = Math.ceil(markets / marketsPerBlock);
  let [slowestApply, slowestSave] = [0, 0];
  for (let block = 0; block < blocks; block += 1) {
    const delta = deltaOfMarkets(block);
    const dueBefore = file.isDue;
    const appliedAt = performance.now();
    state.apply(delta);
    const took = performance.now() - appliedAt;
    if (dueBefore) slowestSave = Math.max(slowestSave, took);
    else slowestApply = Math.max(slowestApply, took);
    // As the pipeline does between two changes: the event loop handles messages of other threads.
    await setImmediate();
  }
  state.save();
  file.close();
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage();
  console.log(
    `${markets} markets in ${seconds.toFixed(0)} s, ${((user + system) / 1e6).toFixed(0)} s of processor; ` +
      `slowest ${marketsPerBlock} ${slowestApply.toFixed()} ms, with a save ${slowestSave.toFixed()} ms; ` +
      `peak ${(process.resourceUsage().maxRSS / 1024).toFixed()} MiB`,
  );
}

async function measure(path: string): Promise<void> {
  const startedAt = performance.now();
  const file = open(path);
  const state = new MarketState(contracts, file);
  console.log(
    `opened in ${(performance.now() - startedAt).toFixed()} ms, ` +
      `file ${(statSync(join(path, "markets.sqlite")).size / 2 ** 20).toFixed()} MiB, ` +
      `resident ${(process.memoryUsage.rss() / 2 ** 20).toFixed()} MiB`,
  );
  const cursors = new Cursors(Buffer.alloc(32, 7), () => 0);
  const facts = { reads: new QueryReads() };
  const parts = { state, facts, cursors, freshness: () => ({}) };
  const route = listMarkets(parts as never, systemClock);
  const ask = async (query: object): Promise<ListPage> =>
    route.handler(
      {
        id: "x",
        query: {
          limit: 50,
          format: "json",
          order: "desc",
          sort: "volume_24h",
          status: "all",
          ...query,
        },
      } as never,
      {} as never,
    ) as Promise<ListPage>;
  const common = vocabulary.slice(0, 20);
  const rare = vocabulary.slice(-20_000);
  const searches: Record<string, () => string> = {
    "a rare word": () => random.pick(rare),
    "a common word": () => random.pick(["will", "the", "market", ...common]),
    "the start of a word": () => random.pick(rare).slice(0, 3),
    "the middle of a word": () => random.pick(rare).slice(2, 5),
    "two letters": () => random.pick(rare).slice(0, 2),
    "one letter": () => random.pick(rare).slice(1, 2),
    "three words": () => `will ${random.pick(common)} ${random.pick(rare)}`,
    "two common words": () => `${random.pick(common)} ${random.pick(common)}`,
    "common words": () => "will the market resolve",
    "a whole question": () => toTitle(random.integer(0, markets - 1)),
    "a misspelt word": () => `${random.pick(common)}q`,
    "the start of a number": () => `id${random.integer(1, 99)}`,
  };
  // A warm-up with other words: the words must be new, but the code runs for weeks in production.
  for (const search of Object.values(searches))
    for (let round = 0; round < rounds; round += 1) await ask({ search: search() });
  for (const [name, search] of Object.entries(searches)) {
    await time(`search: ${name}`, () => ask({ search: search() }));
  }
  const oneOfMany = () => random.pick(["will", "the", "market", ...common]);
  for (const [name, filters] of Object.entries({
    open: { status: "open" },
    "of 2,000 $": { min_volume: 2_000_000_000n },
    "of some days": { created_after: 1_600_900_000_000, created_before: 1_601_500_000_000 },
  })) {
    await time(`search: a common word, ${name}`, () => ask({ search: oneOfMany(), ...filters }));
  }
  for (const sort of sorts) {
    await time(`search: a common word, ${sort}`, () => ask({ search: oneOfMany(), sort }));
  }
  for (const sort of sorts) {
    await time(`list: ${sort}`, () => ask({ sort }));
    await time(`list: ${sort}, asc, open, of 2,000 $`, () =>
      ask({ sort, order: "asc", status: "open", min_volume: 2_000_000_000n }),
    );
  }
  let cursor: string | null = null;
  await time("list: pages of volume", async () => {
    const page = await ask({ sort: "volume", limit: 100, ...(cursor !== null && { cursor }) });
    cursor = page.pagination.next_cursor;
    return page;
  });
  console.log(`resident ${(process.memoryUsage.rss() / 2 ** 20).toFixed()} MiB`);
  file.close();
}

async function time(name: string, work: () => Promise<ListPage>): Promise<void> {
  const took: number[] = [];
  const before = process.cpuUsage();
  const turns = watchTurns();
  for (let round = 0; round < rounds; round += 1) {
    await setImmediate();
    const startedAt = performance.now();
    await work();
    took.push(performance.now() - startedAt);
  }
  await setImmediate();
  const longest = turns.stop();
  const { user, system } = process.cpuUsage(before);
  took.sort((a, b) => a - b);
  // Nearest rank: with 100 rounds, at most one is slower than the p99.
  const at = (share: number) => took[Math.ceil(share * rounds) - 1]?.toFixed(1);
  console.log(
    `${name.padEnd(40)} p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest turn ${longest.toFixed(1)} ms, ` +
      `processor ${((user + system) / 1000 / rounds).toFixed(1)} ms`,
  );
}

/** Measures the longest time without another turn of the event loop. */
function watchTurns(): { stop(): number } {
  let longest = 0;
  let isStopped = false;
  let lastAt = performance.now();
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - lastAt);
    lastAt = now;
    if (!isStopped) queue(look);
  };
  queue(look);
  return {
    stop() {
      isStopped = true;
      return longest;
    },
  };
}

function open(path: string): MarketsFile {
  const last = { number: 2 ** 31, hash: toWord(1), timestamp: 2 ** 31 };
  return MarketsFile.open(path, {
    contracts,
    coverage: { fromBlock: 0, last },
    repairs: 0,
    clock: systemClock,
  });
}

/** A block that creates 500 markets, with their events, trades and resolutions. */
function deltaOfMarkets(block: number): Delta {
  const events: LocatedEvent[] = [];
  const trades: Trade[] = [];
  const timestamp = 1_600_000_000 + block * 600;
  for (let i = 0; i < marketsPerBlock; i += 1) {
    const index = block * marketsPerBlock + i;
    const eventId = deriveNativeEventId("binary", toWord(index));
    const place = { timestamp, blockHash: toWord(block), txHash: toWord(index), address: nobody };
    const at = (log: number): Seq => (block * 1_000_000 + i * 4 + log) as Seq;
    const conditionId = eventId as string as ConditionId;
    const add = (log: number, event: unknown) =>
      events.push({ ...place, seq: at(log), event: event as LocatedEvent["event"] });
    add(0, { kind: "gen3_event_announced", eventId, marketType: "binary" });
    const text = `0x${Buffer.from(toText(index)).toString("hex")}`;
    add(1, {
      kind: "gen3_text_registered",
      requestId: eventId,
      requester: nobody,
      isNumerical: false,
      text,
    });
    if (index < markets * 0.9) {
      const payouts = index % 2 === 0 ? [1n, 0n] : [0n, 1n];
      const result = { conditionId, questionId: null, oracle: nobody, payouts };
      add(2, { kind: "condition_resolved", ...result });
    }
    if (index % 3 !== 0) trades.push(toTrade(deriveGen3TokenIds(conditionId)[0], at(3), timestamp));
  }
  return {
    last: { number: block, hash: zeroHash, timestamp: 1_600_000_000 + block * 600 },
    fromBlock: block,
    block: null,
    events,
    trades,
    supplies: [],
    tally: {
      fills: 0,
      events: 0,
      ledger: 0,
      ledgerKinds: {},
      balances: 0,
      hours: [],
      quarantined: [],
      anomalies: [],
    },
  };
}

function toTrade(tokenId: TokenId, seq: Seq, timestamp: number): Trade {
  const size = BigInt(random.integer(1, 5_000_000_000));
  const value = (size * BigInt(random.integer(10_000, 990_000))) / 1_000_000n;
  return { seq, timestamp, tokenId, size, value, side: "BUY", txHash: toWord(seq), generation: 3 };
}

function toTitle(index: number): string {
  const of = new SeededRandom(index);
  return `Will ${wordFrom(of)} ${wordFrom(of)} win the ${wordFrom(of)} ${wordFrom(of)} on June ${index % 30}, ${2020 + (index % 7)}?`;
}

/** A question text as on the chain, with about a hundred words of description; half of it is boilerplate. */
function toText(index: number): string {
  const of = new SeededRandom(index + 1_000_000_000);
  const filler = Array.from({ length: 50 }, () => wordFrom(of)).join(" ");
  const form =
    "This market will resolve to Yes if the event in the title happens by the date given, 11:59 PM ET. " +
    "Otherwise this market will resolve to No. The primary resolution source for this market is official " +
    "information, however a consensus of credible reporting will also be used.";
  return `q: title: ${toTitle(index)}, description: ${form} ${filler} id${index} market_id: ${index} res_data: p1: 0, p2: 1, p3: 0.5. Where p1 corresponds to No, p2 to Yes, p3 to unknown.`;
}

/** A random word. The n-th word has a frequency of about 1/n. */
function wordFrom(of: SeededRandom): string {
  const share = of.integer(0, 1_000_000) / 1_000_000;
  return vocabulary[Math.floor(vocabulary.length ** share) - 1] ?? "";
}

function makeWord(): string {
  const letters = Array.from({ length: random.integer(2, 5) }, () => {
    const [consonant, vowel] = [
      random.pick("bcdfghklmnprstvwz".split("")),
      random.pick("aeiou".split("")),
    ];
    return `${consonant}${vowel}`;
  });
  return letters.join("").slice(0, random.integer(3, 10));
}

function knownContracts(): Contracts {
  const parsed = parseContracts(polygonContracts);
  if ("mistakes" in parsed) throw new Error(parsed.mistakes.join("; "));
  return parsed;
}
