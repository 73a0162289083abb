/** Preparing a database on a server: all tables exist afterwards, and other databases are refused. */
import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { after, test } from "node:test";
import { ConfigError } from "../../src/base/config/config.ts";
import { AppError } from "../../src/base/errors.ts";
import { toIdentity } from "../../src/storage/directory/identity.ts";
import {
  getTableNames,
  oldestSchemaVersion,
  schemaStatements,
  schemaVersion,
} from "../../src/storage/schema/schema.ts";
import { checkDatabase } from "../../src/storage/server/check-database.ts";
import { openDatabase } from "../../src/storage/server/open-database.ts";
import {
  databaseStatements,
  readSchemaVersion,
} from "../../src/storage/server/prepare-database.ts";
import { cleanUp } from "../support/clean-up.ts";
import { ClickHouseServer, readingUser } from "../support/clickhouse/clickhouse-server.ts";
import { openServerEngine } from "../support/open-engines.ts";
import { knownContracts } from "../support/recorded-chain.ts";

const identity = toIdentity(137, knownContracts());
const { chain_id, contracts, events } = identity;
const stored = { identity, spoolDir: tmpdir() };
const [server] = await ClickHouseServer.openAll(1);
assert(server !== undefined);
after(() => server.close());

test("a database whose first preparation was interrupted is completed", async (t) => {
  const database = "interrupted";
  const old = await openServerEngine(t, server, { database });
  for (const sql of schemaStatements({ kind: "server", database }, old)) await old.command(sql);
  await old.command("DROP TABLE repairs");
  await old.command("INSERT INTO commits VALUES (1, 2, unhex('00'), 0, 0, 0, 0, 0, 0, 0)");
  const place = { url: server.url, user: "default", password: "", cluster: null, ...stored };
  const engine = await openDatabase({ ...place, database });
  cleanUp(t, () => engine.close());
  assert.equal(await readSchemaVersion(engine), schemaVersion);
  const tables = await engine.query(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine != 'View'",
  );
  assert.deepEqual(new Set(tables.map(([name]) => name)), new Set(getTableNames(engine)));
  assert.deepEqual(await engine.query("SELECT from_block, to_block FROM commits"), [[1, 2]]);
  assert.deepEqual(await engine.query("SELECT count() FROM markets"), [[0]]);
});

test("a database without wallets has no tables of wallets, and is refused with them", async (t) => {
  const place = { url: server.url, user: "default", password: "", cluster: null, ...stored };
  const without = toIdentity(137, { ...knownContracts(), wallets: false });
  const target = { ...place, database: "few", identity: without };
  const engine = await openDatabase(target);
  cleanUp(t, () => engine.close());
  const findings = await checkDatabase(engine, target);
  assert.deepEqual(
    findings.filter(({ problem }) => problem !== null),
    [],
  );
  const tables = await engine.query(
    "SELECT name FROM system.tables WHERE database = 'few' AND name IN ('ledger', 'balance_changes')",
  );
  assert.deepEqual(tables, []);
  await assert.rejects(openDatabase({ ...target, identity }), /indexed with ODDWIRE_WALLETS=off/);
});

test("a migration keeps the facts, and is refused with an identity that is not theirs", async (t) => {
  const database = "earlier";
  const without = toIdentity(137, { ...knownContracts(), wallets: false });
  const place = { url: server.url, user: "default", password: "", cluster: null, ...stored };
  const target = { ...place, database, identity: without };
  const first = await openDatabase(target);
  cleanUp(t, () => first.close());
  await first.command("DROP TABLE repaired_blocks");
  await first.command("TRUNCATE TABLE identity");
  await first.command(
    `INSERT INTO identity VALUES (${oldestSchemaVersion}, ${chain_id}, '${contracts}', '${without.events}')`,
  );
  await first.command("INSERT INTO commits VALUES (1, 2, unhex('00'), 0, 0, 0, 0, 0, 0, 0)");
  const readTables = () => first.query("SHOW TABLES");
  const before = await readTables();
  const others = [
    [
      { ...target, identity },
      /indexed with ODDWIRE_WALLETS=off, which a later start cannot change/,
    ],
    [{ ...target, identity: { ...without, chain_id: 1 } }, /holds chain 137/],
    [{ ...target, identity: { ...without, contracts: "00" } }, /another list of contracts/],
    [{ ...target, identity: { ...without, events: "00" } }, /decodes other events/],
  ] as const;
  const refuseAll = async () => {
    for (const [other, refusal] of others) await assert.rejects(openDatabase(other), refusal);
  };
  await refuseAll();
  assert.deepEqual(await readTables(), before);
  assert.equal(await readSchemaVersion(first), oldestSchemaVersion);
  const migrated = await openDatabase(target);
  await migrated.close();
  assert.equal(await readSchemaVersion(first), schemaVersion);
  assert.equal((await readTables()).length, before.length + 1);
  assert.deepEqual(await first.query("SELECT from_block, to_block FROM commits"), [[1, 2]]);
  await refuseAll();
  // Statements that were printed with other settings do not change whose facts they are.
  for (const sql of databaseStatements({ ...target, identity })) await first.command(sql);
  await refuseAll();
  await (await openDatabase(target)).close();
});

test("a database that cannot be migrated is refused with a way out", async (t) => {
  const database = "old";
  const old = await openServerEngine(t, server, { database });
  for (const sql of schemaStatements({ kind: "server", database }, old)) await old.command(sql);
  const version = oldestSchemaVersion - 1;
  await old.command(
    `INSERT INTO identity VALUES (${version}, ${chain_id}, '${contracts}', '${events}')`,
  );
  const place = { url: server.url, user: "default", password: "", cluster: null, ...stored };
  await assert.rejects(openDatabase({ ...place, database }), (thrown) => {
    assert(thrown instanceof ConfigError);
    assert.match(thrown.message, /has tables of version 9.* another ODDWIRE_CLICKHOUSE_DATABASE/);
    return true;
  });
  assert.deepEqual(await old.query("SELECT schema_version FROM identity"), [[version]]);
});

test("a user without the INSERT privilege is refused with the missing privilege", async () => {
  const place = { url: server.url, password: "", database: "facts", cluster: null, ...stored };
  const engine = await openDatabase({ ...place, user: "default" });
  await engine.close();
  await assert.rejects(openDatabase({ ...place, user: readingUser }), (thrown) => {
    assert(thrown instanceof AppError && thrown.cause instanceof Error);
    assert.match(
      thrown.cause.message,
      /^the ClickHouse server at \S+ does not let the user do what is needed: .*INSERT.* ON facts\.commits$/,
    );
    return thrown.code === "SERVICE_UNAVAILABLE";
  });
});
