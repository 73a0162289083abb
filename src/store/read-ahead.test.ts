import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { readAhead, startReadingAhead } from "./read-ahead.ts";

describe("reading a file ahead", () => {
  const folder = mkdtempSync(join(tmpdir(), "oddwire-test-"));
  after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "file");

  test("reads all of it, whatever its length", async () => {
    const mebibyte = 1024 * 1024;
    for (const length of [0, 1, mebibyte - 1, mebibyte, 2 * mebibyte + 1]) {
      writeFileSync(path, new Uint8Array(length));
      assert.equal(await readAhead(path), length);
    }
  });

  test("ends when it is told to", async () => {
    const ending = AbortSignal.abort();
    await assert.rejects(readAhead(path, ending), { name: "AbortError" });
  });

  test("leaves a file that is not there alone", () => {
    startReadingAhead(join(folder, "nothing"))();
  });
});
