/** Lakes that were made to do harm, or by other tools: each is refused in one sentence, and the store stays as it was. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openFolderLake } from "../../src/lake/folder-lake.ts";
import { readManifest } from "../../src/lake/import-lake.ts";
import { LakeError } from "../../src/lake/lake-error.ts";
import type { LakeFile, Manifest } from "../../src/lake/manifest.ts";
import type { Engine } from "../../src/storage/engine/engine.ts";
import { assertTablesHold } from "../support/assert-tables-hold.ts";
import { StoreFolder } from "../support/store-folder.ts";
import { exported, finalDays, getReader, imported, openFilled } from "../support/test-lake.ts";

/** A lake with several parts of a day, an empty store, and an engine that writes other files. */
async function openAttacked(t: TestContext, salt: number) {
  const filled = await openFilled(t, salt);
  const manifest = await exported(filled, { partRows: 60 });
  await filled.source.close();
  const into = await StoreFolder.open(t);
  const engine = await getReader(t, into.store.engine, into.path);
  return { ...filled, manifest, into, engine };
}

type Mutable<T> = { -readonly [K in keyof T]: Mutable<T[K]> };

function copy(manifest: Manifest): Mutable<Manifest> {
  return JSON.parse(JSON.stringify(manifest)) as Mutable<Manifest>;
}

/** Replaces a file by bytes that its entry of the manifest fits. */
async function replace(folder: string, file: Mutable<LakeFile>, bytes: Buffer): Promise<void> {
  await writeFile(join(folder, file.path), bytes);
  file.bytes = bytes.length;
  file.sha256 = createHash("sha256").update(bytes).digest("hex");
}

function writeManifest(folder: string, manifest: unknown): Promise<void> {
  return writeFile(join(folder, "manifest.json"), JSON.stringify(manifest));
}

/** Replaces a file by what a query of it returns; `FILE` stands for the file. */
async function rewrite(engine: Engine, path: string, sql: string): Promise<Buffer> {
  // As most tools write: every column may be NULL.
  const settings = "SETTINGS schema_inference_make_columns_nullable = 1";
  const source = `file('${path}', 'Parquet')`;
  return engine.queryBinary(`${sql.replaceAll("FILE", source)} ${settings}`, "Parquet");
}

test("a file whose rows are not those of a lake is refused, whatever its hash says", async (t) => {
  const { folder, manifest, source, into, engine } = await openAttacked(t, 20);
  const cases: readonly [table: string, sql: string, message: RegExp][] = [
    ["fills", "SELECT * EXCEPT maker FROM FILE", /cannot be read/],
    [
      "fills",
      "SELECT * REPLACE (if(seq % 2 = 0, NULL, maker) AS maker) FROM FILE",
      /cannot be read/,
    ],
    ["fills", "SELECT * REPLACE ('x' AS seq) FROM FILE", /cannot be read/],
    ["fills", "SELECT * REPLACE ('x' AS role) FROM FILE", /cannot be read/],
    ["fills", "SELECT * REPLACE ('1e99' AS maker_amount_raw) FROM FILE", /cannot be read/],
    [
      "fills",
      "SELECT * REPLACE (77 AS exchange_version) FROM FILE",
      /exchange_version is 1, 2 or 3/,
    ],
    [
      "fills",
      "SELECT * REPLACE (timestamp + 86400 AS timestamp) FROM FILE",
      /rows of other days than \d{4}-/,
    ],
    [
      "fills",
      "SELECT * REPLACE (toFixedString('', 32) AS block_hash) FROM FILE",
      /another hash of block \d+ than the manifest/,
    ],
    ["fills", "SELECT * REPLACE (seq + 1000000000 AS seq) FROM FILE", /does not hold the \d+ rows/],
    ["fills", "SELECT * REPLACE (seq - seq % 1000000 AS seq) FROM FILE", /does not hold/],
    ["fills", "SELECT * FROM FILE UNION ALL SELECT * FROM FILE", /does not hold/],
    ["ledger", "SELECT * REPLACE ('x' AS kind) FROM FILE", /cannot be read/],
    ["ledger", "SELECT * FROM FILE UNION ALL SELECT * FROM FILE", /does not hold the \d+ rows/],
    ["ledger", "SELECT * REPLACE (seq + 1000000000 AS seq) FROM FILE", /does not hold/],
    ["balance_changes", "SELECT * REPLACE ('1e99' AS shares_raw) FROM FILE", /cannot be read/],
    ["balance_changes", "SELECT * EXCEPT wallet FROM FILE", /cannot be read/],
    ["events", "SELECT * REPLACE ('{}' AS payload) FROM FILE", /cannot be decoded/],
    ["events", "SELECT * REPLACE ('no JSON' AS payload) FROM FILE", /cannot be decoded/],
    ["events", "SELECT * REPLACE ('__proto__' AS kind) FROM FILE", /cannot be decoded/],
    [
      "events",
      "SELECT * REPLACE (toFixedString('x', 32) AS subject) FROM FILE",
      /cannot be decoded/,
    ],
  ];
  for (const [index, [table, sql, message]] of cases.entries()) {
    const forged = copy(manifest);
    const attacked = `${folder}-${index}`;
    await cp(folder, attacked, { recursive: true });
    const slice = forged.slices.find(
      ({ files: { fills, events }, last_block: { number } }) =>
        Number(fills?.last_seq) > number * 1e6 && events !== undefined,
    );
    const file = slice?.files[table];
    assert(file !== undefined, "a part has fills of its last block, and events");
    await replace(attacked, file, await rewrite(engine, join(attacked, file.path), sql));
    await writeManifest(attacked, forged);
    await assert.rejects(
      imported(t, { source, folder: attacked }, { into }),
      (thrown) => thrown instanceof LakeError && message.test(thrown.message),
      sql,
    );
  }
});

test("a file that is no Parquet file, or another one, is refused", async (t) => {
  const { folder, manifest, source, into } = await openAttacked(t, 21);
  const forged = copy(manifest);
  const { fills, events } = forged.slices[0]?.files ?? {};
  assert(fills !== undefined && events !== undefined);
  const original = await readFile(join(folder, fills.path));
  const contents = [
    original.subarray(0, original.length - 8),
    original.subarray(0, 100),
    Buffer.from("PAR1PAR1"),
    Buffer.from("a,b\n1,2\n"),
    Buffer.alloc(4096),
    await readFile(join(folder, events.path)),
  ];
  for (const content of contents) {
    await replace(folder, fills, content);
    await writeManifest(folder, forged);
    await assert.rejects(
      imported(t, { source, folder }, { into }),
      (thrown) => thrown instanceof LakeError && /cannot be imported/.test(thrown.message),
    );
  }
});

test("a manifest with gaps, overlaps, days out of order, huge numbers or other paths is refused", async (t) => {
  const { folder, manifest } = await openAttacked(t, 22);
  assert(manifest.slices.length > 3);
  const changes: (readonly [change: (one: Mutable<Manifest>) => unknown, message: RegExp])[] = [
    [(one) => one.slices.splice(1, 1), /gap or an overlap at block \d+/],
    [(one) => one.slices.push(...one.slices.slice(-1)), /gap or an overlap/],
    [(one) => (one.slices = one.slices.toReversed()), /not in order|gap/],
    [(one) => (one.first_block -= 1), /gap or an overlap/],
    [(one) => Object.assign(one.slices[0] ?? {}, { date: "2001-01-01" }), /not in order at block/],
    [(one) => Object.assign(one.slices[0] ?? {}, { date: "2026-99-99" }), /not in order at block/],
    [(one) => (one.last_block.number += 1), /another last block/],
    [(one) => (one.last_block.hash = `0x${"0".repeat(64)}`), /another last block/],
    ...[2 ** 53 - 1, 2 ** 53, 1e308, -1, 0.5, "1", null].flatMap((value) =>
      [
        (one: Mutable<Manifest>) =>
          Object.assign(one.slices[0]?.files["fills"] ?? {}, { bytes: value }),
        (one: Mutable<Manifest>) =>
          Object.assign(one.slices[0]?.files["fills"] ?? {}, { rows: value }),
        (one: Mutable<Manifest>) =>
          Object.assign(one.slices.at(-1)?.last_block ?? {}, { number: value }),
        (one: Mutable<Manifest>) =>
          Object.assign(one.slices[0]?.last_block ?? {}, { timestamp: value }),
        (one: Mutable<Manifest>) =>
          Object.assign(one, { layout: value === 2 ** 53 - 1 ? -1 : value }),
      ].map((change) => [change, /damaged|layout \d+/] as const),
    ),
    ...[
      "../fills/part-0.parquet",
      "/etc/passwd",
      "fills/date=2026-01-01/../../manifest.json",
      "fills/date=2026-01-01/part-0.parquet/..",
      "fills//part-0.parquet",
      "fills\\date=2026-01-01\\part-0.parquet",
      "fills/date=2026-01-01/part-0.parquet\u0000",
      "http://127.0.0.1/part-0.parquet",
      "fills/date=2026-01-01/part-\u0660.parquet",
      "ﬁlls/date=2026-01-01/part-0.parquet",
      "fills/date=2026-01-01/part-0.parquet\n",
      "fills/%2e%2e/part-0.parquet",
    ].map(
      (path) =>
        [
          (one: Mutable<Manifest>) => Object.assign(one.slices[0]?.files["fills"] ?? {}, { path }),
          /damaged/,
        ] as const,
    ),
  ];
  for (const [change, message] of changes) {
    const forged = copy(manifest);
    change(forged);
    await writeManifest(folder, forged);
    await assert.rejects(
      readManifest(openFolderLake(folder), null),
      (thrown) => thrown instanceof LakeError && message.test(thrown.message),
      String(change),
    );
  }
});

test("files that another tool has written, with optional columns, are imported", async (t) => {
  const { folder, manifest, source, into, engine, blocks } = await openAttacked(t, 23);
  const forged = copy(manifest);
  for (const { files } of forged.slices) {
    for (const file of Object.values(files)) {
      const sql = "SELECT * FROM FILE ORDER BY timestamp DESC";
      await replace(folder, file, await rewrite(engine, join(folder, file.path), sql));
    }
  }
  await writeManifest(folder, forged);
  const { store } = await imported(t, { source, folder }, { into });
  await assertTablesHold(store, finalDays(blocks, manifest));
});
