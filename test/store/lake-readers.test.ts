/** Other tools read a lake: recipes of its page run, all tools read the rows of the API, and its columns are documented. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { encodeMarketSnapshot } from "../../src/api/bulk/market-snapshot.ts";
import { formatMicros, parseMicros } from "../../src/base/decimal.ts";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import type { LedgerRow } from "../../src/market/ledger/ledger-row.ts";
import { lakeFactTables, writtenColumns } from "../../src/storage/lake/lake-tables.ts";
import { cleanUp } from "../support/clean-up.ts";
import { embeddedOnly } from "../support/open-facts.ts";
import { runProgram } from "../support/run-command.ts";
import {
  exported,
  finalDays,
  getApiTrades,
  getRecipe,
  openFilled,
  toText,
  toTexts,
} from "../support/test-lake.ts";
import { readText } from "../tidy/project-files.ts";

/** A lake, and the rows of the API that it holds. */
async function openLake(t: TestContext, salt: number) {
  const filled = await openFilled(t, salt);
  const manifest = await exported(filled);
  const rows = getApiTrades(filled, manifest);
  const days = Map.groupBy(rows, (row) => new Date(row.timestamp_ms).toISOString().slice(0, 10));
  const volumes = [...days].map(([day, ofDay]) => {
    const micros = ofDay.reduce((sum, row) => sum + (parseMicros(row.value_usd) ?? 0n), 0n);
    return [day, formatMicros(micros)];
  });
  return { ...filled, rows, volumes, ledger: sumLedger(finalDays(filled.blocks, manifest)) };
}

/** Returns the shares, dollars and fees of each wallet, by token, in the order of the recipes. */
function sumLedger(blocks: readonly BlockFacts[]): readonly (readonly string[])[] {
  const groups = Map.groupBy(
    blocks.flatMap(({ ledger }) => ledger),
    ({ wallet, tokenId }) => `${wallet} ${tokenId}`,
  );
  const sum = (rows: readonly LedgerRow[], field: "shares" | "cash" | "fee") =>
    rows.reduce((total, row) => total + row[field], 0n);
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, rows]) => [
      ...key.split(" "),
      String(sum(rows, "shares")),
      ...(["cash", "fee"] as const).map((field) => String(toText(formatMicros(sum(rows, field))))),
    ]);
}

async function openDuckDb(t: TestContext) {
  const database = await DuckDBInstance.create(":memory:", { threads: "1", memory_limit: "1GB" });
  const connection = await database.connect();
  cleanUp(t, () => {
    connection.closeSync();
    database.closeSync();
  });
  return async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJson();
}

test("DuckDB reads the rows of the API, and only the days that a query needs", {
  skip: embeddedOnly,
}, async (t) => {
  const { folder, rows, volumes, ledger } = await openLake(t, 30);
  const query = await openDuckDb(t);
  const recipe = getRecipe("DuckDB", folder).replace("2026-11-01", volumes[1]?.[0] ?? "");
  const sums = (await query(recipe)).map((row) => Object.values(row).map(toText));
  assert.deepEqual(sums, volumes.slice(1));

  const files = (table: string) =>
    `read_parquet('${folder}/${table}/*/*.parquet', hive_partitioning = true)`;
  await query(getRecipe("Trades of the API in DuckDB", folder));
  const names = Object.keys(rows[0] ?? {});
  const read = await query(`SELECT ${names.join()} FROM api_trades ORDER BY seq`);
  assert.deepEqual(read.map(toTexts), rows.map(toTexts));

  const changes = await query(getRecipe("Ledger in DuckDB", folder));
  assert.deepEqual(
    changes.map((row) => Object.values(row).map(toText)),
    ledger,
  );

  const plan = await query(
    `EXPLAIN ANALYZE SELECT sum(value_usd) FROM ${files("trades")} WHERE date = '${volumes[0]?.[0]}'`,
  );
  assert.match(JSON.stringify(plan), new RegExp(`Scanning Files: 1/${volumes.length}\\b`));
});

test("Polars reads the volumes, the trades of the API and the ledger", {
  skip: embeddedOnly,
}, async (t) => {
  const python = process.env["PYTHON"] ?? "python3";
  if (spawnSync(python, ["-c", "import polars"]).status !== 0)
    return t.skip("NOT TESTED: there is no Polars");
  const { folder, volumes, rows, ledger } = await openLake(t, 33);
  const names = Object.keys(rows[0] ?? {});
  const [days, trades, changes] = ["Polars", "Trades of the API in Polars", "Ledger in Polars"].map(
    (name) => getRecipe(name, folder).replace(/^import.*\n/, ""),
  );
  const program = `import polars as pl
days = (${days?.trim()})
print(days.sort("date").select(pl.all().cast(pl.String)).write_json())
${trades}
print(api_trades.sort("seq").select(${JSON.stringify(names)}).cast({pl.Decimal: pl.String}).write_json())
changes = (${changes?.trim()})
print(changes.select(pl.all().cast(pl.String)).write_json())`;
  const { stdout, stderr } = await runProgram(python, ["-c", program]);
  assert.equal(stderr, "");
  const [sums = [], read = [], changed = []] = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as readonly object[]);
  assert.deepEqual(
    sums.map((row) => Object.values(row).map(toText)),
    volumes,
  );
  assert.deepEqual(read.map(toTexts), rows.map(toTexts));
  assert.deepEqual(
    changed.map((row) => Object.values(row).map(toText)),
    ledger,
  );
});

test("ClickHouse reads the volumes of the API and the ledger", {
  skip: embeddedOnly,
}, async (t) => {
  const { folder, store, rows, ledger } = await openLake(t, 31);
  const sums = await store.engine.query(getRecipe("ClickHouse", folder));
  const questions = new Set(rows.map(({ question }) => question));
  assert.equal(sums.length, Math.min(10, questions.size));
  // JSON has these sums as numbers, of which JavaScript would keep 53 bits.
  const changes = await store.engine.query(
    `SELECT * REPLACE (toString(shares_raw) AS shares_raw) FROM (${getRecipe("Ledger in ClickHouse", folder)})`,
  );
  assert(ledger.length > 10);
  assert.deepEqual(
    changes.map((row) => row.map(toText)),
    ledger,
  );
});

test("every column of every table is documented, with its type and whether it can be NULL", {
  skip: embeddedOnly,
}, async (t) => {
  const { folder, store, state } = await openLake(t, 32);
  const { engine } = store;
  const snapshot = join(folder, "snapshot.parquet");
  await writeFile(snapshot, (await encodeMarketSnapshot(state)).bytes);
  const sources = {
    trades: `file('${folder}/trades/*/*.parquet', 'Parquet')`,
    candles_1m: `file('${folder}/candles_1m/*/*.parquet', 'Parquet')`,
    ...Object.fromEntries(
      lakeFactTables.map((table) => [table, `(SELECT ${writtenColumns(table)} FROM ${table})`]),
    ),
    markets: `file('${snapshot}', 'Parquet')`,
  };
  const documented = readText("docs/lake-columns.md").split(/^## /m).slice(1);
  assert.deepEqual(
    documented.map((section) => section.split("\n")[0]),
    Object.keys(sources),
  );
  for (const [index, [table, source]] of Object.entries(sources).entries()) {
    const found = await engine.query(`DESCRIBE TABLE ${source}`);
    // The engine adds the day from the name of the folder.
    const described = found.filter(([name]) => name !== "date");
    const columns = described.map(
      ([name, type]) => `${String(name)} ${toColumnType(String(type))}`,
    );
    const lines = (documented[index] ?? "").matchAll(/^\| `(\w+)` \| (.+?) \| (.+) \|$/gm);
    const expected = [...lines].map(([, name, type, meaning = ""]) => {
      const isNull = meaning.includes("NULL") && table !== "markets";
      return `${name} ${type}${isNull ? " NULL" : ""}`;
    });
    const actual = table === "markets" ? columns.map((one) => one.replace(/ NULL$/, "")) : columns;
    assert.deepEqual(actual, expected, table);
  }
});

/** Returns the words of the page for a type of the engine. */
function toColumnType(type: string): string {
  const [, nullable] = /^Nullable\((.*)\)$/.exec(type) ?? [];
  if (nullable !== undefined) return `${toColumnType(nullable)} NULL`;
  return type
    .replace("LowCardinality(String)", "String")
    .replace("DateTime64(3, 'UTC')", "TIMESTAMP(ms, UTC)")
    .replace("FixedString", "FIXED")
    .replace(/^Bool$/, "BOOLEAN")
    .replace(/^[A-Za-z]+/, (word) => word.toUpperCase());
}
