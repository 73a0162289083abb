/** Arrow files of several batches that the engine encodes, by both clients: every cell is that of the CSV. */
import assert from "node:assert/strict";
import { buffer, text } from "node:stream/consumers";
import { after, before, suite, test } from "node:test";
import { tableFromIPC } from "@uwdata/flechette";
import { OddwireClient } from "../../clients/typescript/src/client.ts";
import { webLimits } from "../../src/base/config/limits.ts";
import { parseMicros } from "../../src/base/decimal.ts";
import type { BlockFacts } from "../../src/market/block-facts.ts";
import { missingPackages } from "../python/python-packages.ts";
import { runPython } from "../python/run-python.ts";
import { DataServer } from "../support/open-data-server.ts";
import { parseCsv } from "../support/parse-csv.ts";
import { repeatTrades, toHash } from "../support/repeat-trades.ts";

const finalBlocks = 350;
const perBlock = 100;

suite("Arrow files of several batches", () => {
  let server: DataServer;
  let facts: readonly BlockFacts[];
  let client: OddwireClient;

  before(async () => {
    facts = repeatTrades({ blocks: finalBlocks + 20, trades: perBlock });
    assert(finalBlocks * perBlock > webLimits.exportEncodedRows);
    server = await DataServer.open({ facts, finalBlocks, unfinalizedBlocks: 10 });
    client = new OddwireClient({ url: server.edge.url, key: server.edge.keys.read });
  });
  after(async () => server.close());

  for (const order of ["asc", "desc"] as const) {
    test(`${order}: blocks that arrive and are reverted between batches change nothing`, async () => {
      const pages = client.trades({ order });
      const [names = [], ...records] = parseCsv(await text((await pages.file("csv")).body));
      const file = await pages.file("arrow");
      const { newestBlock } = server;
      await server.advance({ unfinalized: newestBlock + 4 });
      await server.fork(newestBlock - 2, [toOtherBlock(facts[newestBlock - 1])]);
      await server.advance({ final: newestBlock - 3 });
      const table = tableFromIPC(await buffer(file.body), {
        useBigInt: false,
        useDecimalInt: true,
      });
      assert.deepEqual(table.names, names);
      assert.equal(table.numRows, records.length);
      assert.equal(table.numRows, file.rowCount);
      const columns = names.map((name) => table.getChild(name ?? "").toArray() as unknown[]);
      for (const [at, record] of records.entries())
        for (const [index, cell] of record.entries())
          assert.ok(isSame(columns[index]?.[at], cell), `${names[index]} of row ${at}: ${cell}`);
    });
  }

  test("Python: the frame has every cell of the CSV", { skip: missingPackages() }, async () => {
    const { code, stdout, stderr } = await runPython("tests/compare_frame.py", {
      ODDWIRE_URL: server.edge.url,
      ODDWIRE_API_KEY: server.edge.keys.read,
    });
    assert.equal(code, 0, stderr);
    assert(Number(stdout) > webLimits.exportEncodedRows);
  });
});

/** Returns another block in the place of one, with as many trades. */
function toOtherBlock(block: BlockFacts | undefined): BlockFacts {
  assert(block !== undefined);
  const hash = toHash(`other ${block.number}`);
  return { ...block, hash, fills: block.fills.map((fill) => ({ ...fill, blockHash: hash })) };
}

/** Returns whether a value of Arrow is what a cell of a CSV says. */
function isSame(value: unknown, cell: string | null | undefined): boolean {
  if (value === null) return cell === null || cell === "";
  if (typeof value === "bigint") return value === parseMicros(cell ?? "");
  if (typeof value === "string") return value === cell;
  // Times are milliseconds.
  return value === Number(cell) || value === Date.parse(cell ?? "");
}
