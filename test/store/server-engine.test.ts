/** Failures of a server that an embedded engine does not have: it is down, refuses, hangs or loses responses. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { suite, test } from "node:test";
import { AppError } from "../../src/base/errors.ts";
import { RowWriter } from "../../src/storage/codec/row-writer.ts";
import type { Engine } from "../../src/storage/engine/engine.ts";
import { ServerEngine } from "../../src/storage/server/server-engine.ts";
import { cleanUp } from "../support/clean-up.ts";
import { ClickHouseServer, passwordUser } from "../support/clickhouse/clickhouse-server.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { openServerEngine } from "../support/open-engines.ts";
import { waitFor } from "../support/wait-for.ts";

/** Asserts that the promise rejects as unavailable, for a reason that names the server and matches the pattern. */
async function assertUnavailable(asking: Promise<unknown>, reason: RegExp): Promise<void> {
  await assert.rejects(asking, (thrown: unknown) => {
    assert(thrown instanceof AppError);
    assert.equal(thrown.code, "SERVICE_UNAVAILABLE");
    assert.equal(thrown.message, "The database is not available right now");
    assert(thrown.cause instanceof Error);
    assert.match(thrown.cause.message, /^the ClickHouse server at 127\.0\.0\.1:[0-9]+ /);
    assert.match(thrown.cause.message, reason);
    return true;
  });
}

const serverSettings = {
  user: "default",
  password: "",
  database: "default",
  cluster: null,
  spoolDir: "",
};
const row = new RowWriter().uint32(1).finish();
const durable = "fsync_after_insert = 1, non_replicated_deduplication_window = 10000";

async function makeTable(engine: Engine): Promise<void> {
  await engine.command(
    `CREATE TABLE a (n UInt32) ENGINE = MergeTree ORDER BY n SETTINGS ${durable}`,
  );
}

suite("a ClickHouse server", () => {
  test("that is down is reported as unavailable, and has all rows when it is back", async (t) => {
    const server = await ClickHouseServer.open(t);
    const engine = await openServerEngine(t, server);
    await makeTable(engine);
    await engine.insert("a", row);
    const asking = engine.query("SELECT sleep(3)");
    const requested = assertUnavailable(asking, /cannot be reached: /);
    await server.kill();
    await requested;
    const file = await engine.openRows();
    await file.append(row);
    const away = /cannot be reached: connect ECONNREFUSED/;
    await assertUnavailable(engine.query("SELECT n FROM a"), away);
    await assertUnavailable(engine.queryBinary("SELECT n FROM a", "RowBinary"), away);
    await assertUnavailable(engine.command("TRUNCATE TABLE a"), away);
    await assertUnavailable(engine.insert("a", file), away);
    await server.restart();
    await engine.insert("a", file);
    await file.close();
    assert.deepEqual(await engine.query("SELECT count() FROM a"), [[2]]);
  });

  test("that turns read-only is replaced by the server that its name resolves to then", async (t) => {
    const refusal = "Code: 242. DB::Exception: Table is in readonly mode. (TABLE_IS_READ_ONLY)\n";
    for (const kind of ["query", "insert"] as const) {
      const old = new Set<Socket>();
      let isMoved = false;
      const server = createServer((request, response) => {
        if (!isMoved) old.add(request.socket);
        request.resume().on("end", () => {
          const isOld = isMoved && old.has(request.socket);
          if (isOld) response.writeHead(500, { "x-clickhouse-exception-code": "242" });
          response.end(isOld ? refusal : "[1]\n");
        });
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      cleanUp(t, () => server.close());
      const { port } = server.address() as AddressInfo;
      const settings = { ...serverSettings, url: `http://127.0.0.1:${port}` };
      const engine = await ServerEngine.open(settings);
      cleanUp(t, () => engine.close());
      const ask = () => (kind === "query" ? engine.query("SELECT 1") : engine.insert("a", row));
      await ask();
      isMoved = true;
      await assertUnavailable(ask(), /readonly mode/);
      await ask();
    }
  });

  test("that does not answer is reported as unavailable after the timeout", async (t) => {
    const server = await ClickHouseServer.open(t);
    const engine = await openServerEngine(t, server, { queryTimeoutMs: 1000 });
    await assertUnavailable(
      engine.query("SELECT sleepEachRow(1) FROM numbers(100) SETTINGS max_block_size = 1"),
      / 1 s$|159/,
    );
    server.pause();
    await assertUnavailable(engine.query("SELECT 1"), /has not answered within 1 s$/);
    server.resume();
    assert.deepEqual(await engine.query("SELECT 1"), [[1]]);
  });

  test("that refuses a statement is reported with its reason", async (t) => {
    const engine = await openServerEngine(t, await ClickHouseServer.open(t));
    const reason = /failed: .*nowhere.* \(60\); check ODDWIRE_CLICKHOUSE_DATABASE, or run /;
    await assertUnavailable(engine.query("SELECT n FROM nowhere"), reason);
  });

  test("behind a proxy that fails is reported as unavailable, with the status", async (t) => {
    const proxy = createServer((_, response) => response.writeHead(502).end("<h1>Bad</h1>"));
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
    cleanUp(t, () => proxy.close());
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    await assertUnavailable(openServerEngine(t, { url }), /cannot be reached: .*status 502$/);
  });

  test("without TLS behind an https URL is reported without the words of OpenSSL", async (t) => {
    const server = createServer((_, response) => response.end());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanUp(t, () => server.close());
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const reason = /cannot be reached: the TLS handshake failed; use an http URL [^:]*$/;
    await assertUnavailable(openServerEngine(t, { url }), reason);
  });

  test("that refuses the password is reported as unavailable", async (t) => {
    const server = await ClickHouseServer.open(t);
    const engine = await openServerEngine(t, server, passwordUser);
    assert.deepEqual(await engine.query("SELECT currentUser()"), [[passwordUser.user]]);
    const wrong = { ...passwordUser, password: "wrong" };
    await assertUnavailable(
      openServerEngine(t, server, wrong),
      /refuses the user or the password$/,
    );
  });

  test("keeps the databases of different engines apart", async (t) => {
    const server = await ClickHouseServer.open(t);
    const first = await openServerEngine(t, server);
    const second = await openServerEngine(t, server, { database: "other" });
    const again = await openServerEngine(t, server);
    await makeTable(first);
    await makeTable(second);
    await first.insert("a", row);
    assert.deepEqual(await again.query("SELECT currentDatabase(), n FROM a"), [["oddwire", 1]]);
    assert.deepEqual(await second.query("SELECT n FROM a"), []);
  });
});

suite("a lost response", () => {
  test("to a query makes the engine repeat the query", async (t) => {
    const proxy = await CuttingProxy.open(t, (await ClickHouseServer.open(t)).url);
    const engine = await openServerEngine(t, proxy);
    proxy.cutAnswers(2);
    assert.deepEqual(await engine.query("SELECT 7"), [[7]]);
    assert.equal(proxy.cuts, 2);
    proxy.cutAnswers(1000);
    await assertUnavailable(engine.query("SELECT 7"), /cannot be reached: /);
    assert.equal(proxy.cuts, 5);
  });

  test("to an insert with a token makes the engine repeat the insert, and the rows are stored once", async (t) => {
    const proxy = await CuttingProxy.open(t, (await ClickHouseServer.open(t)).url);
    const engine = await openServerEngine(t, proxy);
    await makeTable(engine);
    proxy.cutAnswers(2);
    await engine.insert("a", row, "a:1-1");
    assert.equal(proxy.cuts, 2);
    assert.deepEqual(await engine.query("SELECT n FROM a"), [[1]]);
  });

  test("to any other statement is an error without a retry, because the server may have executed it", async (t) => {
    const proxy = await CuttingProxy.open(t, (await ClickHouseServer.open(t)).url);
    const engine = await openServerEngine(t, proxy);
    await makeTable(engine);
    for (const ask of [
      () => engine.insert("a", row),
      () => engine.command("INSERT INTO a VALUES (1)"),
    ]) {
      proxy.cutAnswers(1);
      await assertUnavailable(ask(), /cannot be reached: /);
    }
    assert.deepEqual(await engine.query("SELECT count() FROM a"), [[2]]);
  });
});

/** The number of rows of each insert below. */
const rowsPerInsert = 100;

test("a server that is killed during inserts has all acknowledged rows, and none twice", async (t) => {
  const server = await ClickHouseServer.open(t);
  const engine = await openServerEngine(t, server);
  await makeTable(engine);
  const repeated = new Set<number>();
  const stop = new AbortController();
  let inserts = 0;
  const writeAll = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      inserts += 1;
      const number = inserts;
      const writer = new RowWriter();
      for (let count = 0; count < rowsPerInsert; count += 1) writer.uint32(number);
      const rows = writer.finish();
      await waitFor("an insert", async () => {
        try {
          await engine.insert("a", rows, `a:${number}`);
          return true;
        } catch {
          repeated.add(number);
          return null;
        }
      });
    }
  };
  const writing = [writeAll(), writeAll()];
  for (let kills = 1; kills <= 6; kills += 1) {
    const before = inserts;
    await waitFor("inserts", async () => (inserts > before + 10 * kills ? true : null));
    await server.restart();
  }
  stop.abort();
  await Promise.all(writing);
  const counts = new Map(
    (await engine.query("SELECT n, count() FROM a GROUP BY n")).map(([n, count]) => [n, count]),
  );
  for (let number = 1; number <= inserts; number += 1) {
    const count = Number(counts.get(number) ?? 0);
    // The server may have kept the token of an interrupted insert, and lost its rows.
    const isSwallowed = count === 0 && repeated.has(number);
    assert(count === rowsPerInsert || isSwallowed, `insert ${number} has ${count} rows`);
  }
  assert(repeated.size > 0);
});
