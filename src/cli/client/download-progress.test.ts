import assert from "node:assert/strict";
import { test } from "node:test";
import { FileCheck } from "../../../clients/typescript/src/list-file.ts";
import { systemClock } from "../../base/time/clock.ts";
import { DownloadProgress } from "./download-progress.ts";

const encoder = new TextEncoder();

/** A CSV with a line of each text. */
function getCsv(...texts: readonly string[]): FileCheck {
  const check = new FileCheck("csv", 4);
  for (const text of texts) check.add(encoder.encode(text));
  return check;
}

function openProgress(isTTY: boolean) {
  let nowMs = 0;
  const written: string[] = [];
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const progress = new DownloadProgress({ isTTY, write: (text) => written.push(text) }, clock);
  const addAt = (ms: number, text: string) => {
    nowMs = ms;
    progress.add(encoder.encode(text));
  };
  return { progress, addAt, written };
}

test("a terminal shows rows, percent and the time left", () => {
  const { progress, addAt, written } = openProgress(true);
  progress.begin("trades.csv", 4, getCsv("id,price\n1,0.5\n"));
  addAt(1000, "id,price\n1,0.5\n");
  assert.match(written.at(-1) ?? "", /trades\.csv .* 1 of 4 rows \(25\.0 %\) {2}3 s left$/);
  // A second attempt starts over.
  progress.begin("trades.csv", 4, getCsv("id,price\n1,0.5\n2,0.5\n"));
  addAt(3000, "id,price\n1,0.5\n2,0.5\n");
  assert.match(written.at(-1) ?? "", /2 of 4 rows \(50\.0 %\) {2}2 s left$/);
  progress.end();
  assert.match(written.at(-1) ?? "", /trades\.csv {2}4 rows {2}0\.0 kB\n$/);
});

test("binary formats show bytes, and a pipe gets one line for each file", () => {
  const terminal = openProgress(true);
  terminal.progress.begin("trades.parquet", 7, { rows: null });
  terminal.addAt(1000, "x".repeat(2000));
  assert.match(terminal.written.at(-1) ?? "", /2\.0 kB {2}2\.0 kB\/s {2}7 rows$/);
  const pipe = openProgress(false);
  pipe.progress.begin("candles.ndjson", 1, new FileCheck("ndjson", 1));
  pipe.addAt(1000, "{}\n");
  pipe.progress.end();
  assert.deepEqual(pipe.written, ["candles.ndjson  1 rows  0.0 kB\n"]);
});
