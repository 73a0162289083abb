/** A database of an earlier version gets the tables and views of later versions, and keeps its facts. */
import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { AppError } from "../../src/base/errors.ts";
import { identityOf } from "../../src/storage/identity.ts";
import { schemaStatements, schemaVersion, tableNames } from "../../src/storage/schema/schema.ts";
import { openDatabase } from "../../src/storage/server/open-database.ts";
import { readSchemaVersion } from "../../src/storage/server/prepare-database.ts";
import { cleanUp } from "../support/clean-up.ts";
import { ClickHouseServer, readingUser } from "../support/clickhouse/clickhouse-server.ts";
import { openServerEngine } from "../support/open-engines.ts";
import { knownContracts } from "../support/recorded-chain.ts";

const identity = identityOf(137, knownContracts());
const { chain_id, contracts, events } = identity;

/** The table or view that each schema version has added. */
const additions = new Map([
  [2, "VIEW markets"],
  [3, "TABLE access_log"],
  [4, "TABLE market_metadata"],
  [5, "TABLE repairs"],
]);

test("a database of any earlier version is upgraded to the newest", async (t) => {
  const server = await ClickHouseServer.open(t);
  for (let version = 1; version < schemaVersion; version += 1) {
    const database = `version_${version}`;
    const old = await openServerEngine(t, server, { database });
    for (const sql of schemaStatements({ kind: "server", database })) await old.command(sql);
    for (const [since, addition] of additions) {
      if (since > version) await old.command(`DROP ${addition}`);
    }
    await old.command(
      `INSERT INTO identity VALUES (${version}, ${chain_id}, '${contracts}', '${events}')`,
    );
    await old.command("INSERT INTO commits VALUES (1, 2, unhex('00'), 0, 0, 0, 0, 0)");
    const tables = async () =>
      (
        await old.query(
          "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine != 'View'",
        )
      ).map(([name]) => name);
    assert.equal((await tables()).includes("repairs"), false);
    const place = { url: server.url, user: "default", password: "", cluster: null, identity };
    const engine = await openDatabase({ ...place, database }, tmpdir());
    cleanUp(t, () => engine.close());
    assert.equal(await readSchemaVersion(engine), schemaVersion);
    assert.deepEqual(new Set(await tables()), new Set(tableNames));
    assert.deepEqual(await engine.query("SELECT from_block, to_block FROM commits"), [[1, 2]]);
    assert.deepEqual(await engine.query("SELECT count() FROM markets"), [[0]]);
  }
});

test("a user without the INSERT privilege is refused with the missing privilege", async (t) => {
  const server = await ClickHouseServer.open(t);
  const place = { url: server.url, password: "", database: "facts", cluster: null, identity };
  const engine = await openDatabase({ ...place, user: "default" }, tmpdir());
  await engine.close();
  await assert.rejects(openDatabase({ ...place, user: readingUser }, tmpdir()), (thrown) => {
    assert(thrown instanceof AppError && thrown.cause instanceof Error);
    assert.match(
      thrown.cause.message,
      /^the ClickHouse server at \S+ does not let the user do what is needed: .*INSERT.* ON facts\.commits$/,
    );
    return thrown.code === "SERVICE_UNAVAILABLE";
  });
});
