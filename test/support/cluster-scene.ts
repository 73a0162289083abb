/** The parts that cluster tests share: ClickHouse, Redis, a chain, a venue, and processes of each role. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type ConditionId, formatTokenId } from "../../src/base/ids.ts";
import { cleanUp } from "./clean-up.ts";
import { ClickHouseServer } from "./clickhouse/clickhouse-server.ts";
import { writeContractsFile } from "./contracts-file.ts";
import { LiveChain } from "./live-chain.ts";
import { testSeed } from "./property-settings.ts";
import { RedisServer } from "./redis/redis-server.ts";
import { venueMarket } from "./scripted-metadata.ts";
import { ScriptedVenue } from "./scripted-venue.ts";
import { SeededRandom } from "./seeded-random.ts";
import { Service } from "./service.ts";
import { allTestMarkets } from "./test-markets.ts";

/** A cluster on this machine, closed with the test. */
export type ClusterScene = {
  readonly chain: LiveChain;
  readonly clickhouse: ClickHouseServer;
  readonly redis: RedisServer;
  readonly random: SeededRandom;
  /** Starts a process with more settings and a folder of its own, which a later process of the same name reuses. */
  readonly start: (
    role: "serve" | "index" | "api",
    name: string,
    more?: Readonly<Record<string, string>>,
  ) => Promise<Service>;
};

export async function openClusterScene(t: TestContext): Promise<ClusterScene> {
  t.diagnostic(`seed ${testSeed}`);
  const folder = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  const services: Service[] = [];
  cleanUp(t, () => rm(folder, { recursive: true, force: true }));
  const random = new SeededRandom(testSeed);
  const clickhouse = await ClickHouseServer.open(t);
  const redis = await RedisServer.open(t);
  const chain = await LiveChain.open(t, random);
  const venue = await openVenue(t);
  cleanUp(t, () => Promise.all(services.map((service) => service.kill9())));
  const shared = {
    ...venue.settings,
    ODDWIRE_CONTRACTS_FILE: await writeContractsFile(folder),
    ODDWIRE_START_BLOCK: String(chain.blocks[0]?.block.number),
    // Tests poll often.
    ODDWIRE_RATE_LIMIT_ADMIN: "1000000",
    ODDWIRE_TRUSTED_PROXIES: "127.0.0.1",
  };
  const cluster = {
    ODDWIRE_CLICKHOUSE_URL: clickhouse.url,
    ODDWIRE_CLICKHOUSE_DATABASE: "facts",
    ODDWIRE_REDIS_URL: redis.url,
    ODDWIRE_HMAC_PEPPER: "p".repeat(32),
  };
  const start: ClusterScene["start"] = async (role, name, more = {}) => {
    const settings = role === "serve" ? shared : { ...shared, ...cluster, ...more };
    const dataDir = join(folder, name);
    const service = await Service.open({ role, rpcUrls: [chain.node.url], dataDir, settings });
    services.push(service);
    return service;
  };
  return { chain, clickhouse, redis, random, start };
}

/** A venue that has a slug for every test market. */
async function openVenue(t: TestContext): Promise<ScriptedVenue> {
  const venue = await ScriptedVenue.open();
  cleanUp(t, () => venue.close());
  for (const { conditionId, tokenIds } of allTestMarkets) {
    venue.marketMetadata.put(
      venueMarket({
        conditionId,
        tokenIds: tokenIds.map(formatTokenId),
        slug: toSlug(conditionId),
        more: { category: "Tests", events: [{ id: "7", slug: "event-7", title: "Event 7" }] },
      }),
    );
  }
  return venue;
}

/** The number of markets with metadata of the venue; `null` until all markets that the venue knows have it. */
export async function describedMarkets(service: Service): Promise<number | null> {
  const rows = await service.getAllPages("/v1/markets?limit=100");
  const byCondition = new Map(allTestMarkets.map((market) => [String(market.conditionId), market]));
  const ours = rows.flatMap((row) => {
    const market = byCondition.get(String(row["id"]));
    return market === undefined ? [] : [{ row, slug: toSlug(market.conditionId) }];
  });
  const described = ours.filter(
    ({ row, slug }) => row["slug"] === slug && row["category"] === "Tests",
  );
  return ours.length > 0 && described.length === ours.length ? ours.length : null;
}

/** The slug of a test market at the venue. */
function toSlug(conditionId: ConditionId): string {
  return `market-${conditionId.slice(2, 10)}`;
}
