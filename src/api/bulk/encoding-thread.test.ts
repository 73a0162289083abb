import assert from "node:assert/strict";
import { test } from "node:test";
import type { Column } from "./columns.ts";
import { type EncodedFormat, EncodingThread } from "./encoding-thread.ts";

const columns: readonly Column[] = [{ name: "a", kind: "integer", nullable: false }];
const thread = new EncodingThread();

async function encode(arrays: readonly string[], format: EncodedFormat = "csv"): Promise<string> {
  const given = (async function* () {
    yield* arrays;
  })();
  const pieces: Uint8Array[] = [];
  for await (const piece of thread.encode({ format, columns }, given)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

test("files are encoded concurrently, each with its rows in order", async () => {
  const files = [encode(['[{"a":1}]', '[{"a":2}]']), encode([]), encode(['[{"a":3}]'])];
  assert.deepEqual(await Promise.all(files), ["a\r\n1\r\n2\r\n", "a\r\n", "a\r\n3\r\n"]);
});

test("a failed file does not affect others, and a failed thread is started again", async () => {
  const other = encode(['[{"a":1}]']);
  await assert.rejects(encode(["no rows"]), SyntaxError);
  assert.equal(await other, "a\r\n1\r\n");
  await assert.rejects(encode(["[]"], "none" as EncodedFormat), TypeError);
  assert.equal(await encode(['[{"a":4}]']), "a\r\n4\r\n");
});

test("csv: a text like a formula gets an apostrophe, which removing one undoes; no control characters", async () => {
  const columns = [{ name: "a", kind: "text", nullable: true }] as const;
  const getCell = async (text: string): Promise<string> => {
    const thread = new EncodingThread();
    const rows = (async function* () {
      yield JSON.stringify([{ a: text }]);
    })();
    const pieces: Uint8Array[] = [];
    for await (const piece of thread.encode({ format: "csv", columns }, rows)) pieces.push(piece);
    return Buffer.concat(pieces).toString().slice("a\r\n".length, -"\r\n".length);
  };
  const formulas = [
    '=HYPERLINK("http://x","y")',
    "+1-1",
    "-x",
    "@SUM(A1)",
    "'a",
    "'=1",
    " =1",
    "\uff1d1",
  ];
  for (const text of formulas)
    assert.equal(await getCell(text), `"'${text.replaceAll('"', '""')}"`);
  for (const text of ["-0.5", "12", "NA", "a=b", "Yes"]) assert.equal(await getCell(text), text);
  assert.equal(await getCell("Nul\u0000\u001b[2Jinside"), '"Nul [2Jinside"');
  assert.equal(await getCell("\t=1"), `"'\t=1"`);
});
