/** What `cluster check` reports about a correct server and about servers that are not a proper cluster. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { toIdentity } from "../../src/storage/directory/identity.ts";
import { checkDatabase } from "../../src/storage/server/check-database.ts";
import { openDatabase, type ServerDatabase } from "../../src/storage/server/open-database.ts";
import { cleanUp } from "../support/clean-up.ts";
import { ClickHouseServer, clusterName } from "../support/clickhouse/clickhouse-server.ts";
import { knownContracts } from "../support/recorded-chain.ts";

const identity = toIdentity(137, knownContracts());

/** The problem of each subject, or `null`, for a database whose tables are on one server. */
async function getProblems(
  t: TestContext,
  { url }: ClickHouseServer,
  cluster: string | null,
): Promise<ReadonlyMap<string, string | null>> {
  const dataDir = await mkdtemp(join(tmpdir(), "oddwire-test-"));
  cleanUp(t, () => rm(dataDir, { recursive: true, force: true }));
  const of = { database: "facts", cluster: null, identity };
  const place: ServerDatabase = { url, user: "default", password: "", spoolDir: dataDir, ...of };
  const engine = await openDatabase(place);
  cleanUp(t, () => engine.close());
  const findings = await checkDatabase(engine, { ...place, cluster });
  return new Map(findings.map(({ subject, problem }) => [subject, problem]));
}

test("a correct server has no problems", async (t) => {
  const server = await ClickHouseServer.open(t);
  const problems = await getProblems(t, server, null);
  assert.deepEqual(
    [...problems],
    ["version", "clock", "tables", "identity", "coverage", "newest commits"].map((subject) => [
      subject,
      null,
    ]),
  );
});

test("the problems of a cluster without replication are reported", async (t) => {
  const [first, second] = await ClickHouseServer.openShards(t, 2);
  assert(first !== undefined && second !== undefined);
  const unknown = await getProblems(t, first, "elsewhere");
  assert.equal(
    unknown.get("servers of the cluster"),
    `the server knows no cluster elsewhere; it knows: ${clusterName}`,
  );
  const problems = await getProblems(t, first, clusterName);
  assert.equal(problems.get("servers of the cluster"), null);
  assert.equal(problems.get("versions"), null);
  assert.equal(problems.get("clocks"), null);
  assert.equal(problems.get("insert quorum"), null);
  assert.match(
    problems.get("macros") ?? "",
    /^no macros shard and replica on .+:[0-9]+, .+:[0-9]+; /,
  );
  assert.match(problems.get("replicas") ?? "", /^not replicated: facts_local\.fills, /);
  await second.kill();
  const cut = await getProblems(t, first, clusterName);
  assert.match(
    cut.get("versions") ?? "",
    /^the ClickHouse server at .+ (?:has no replica of one of its shards|failed: )/,
  );
});
