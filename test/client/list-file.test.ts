import assert from "node:assert/strict";
import { test } from "node:test";
import { FileCheck, type FileFormat } from "../../clients/typescript/src/list-file.ts";

function finish(check: FileCheck, bytes: Uint8Array, pieceBytes = 3): void {
  for (let at = 0; at < bytes.length; at += pieceBytes)
    check.add(bytes.subarray(at, at + pieceBytes));
  check.finish();
}

const text = (value: string) => new TextEncoder().encode(value);
const arrowEnd = Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0);

const whole: readonly [FileFormat, number, Uint8Array][] = [
  ["ndjson", 2, text('{"a":1}\n{"a":"x"}\n')],
  ["ndjson", 0, text("")],
  ["csv", 2, text('a,b\r\n1,"two ""quoted""\r\nlines"\r\n3,\r\n')],
  ["csv", 0, text("a,b\r\n")],
  ["parquet", 1, text("PAR1 data and footer PAR1")],
  ["arrow", 1, Buffer.concat([text("schema and batches"), arrowEnd])],
];

for (const [format, rowCount, bytes] of whole) {
  test(`${format}: a file of ${rowCount} rows is complete; every truncation of it is detected`, () => {
    for (const pieceBytes of [1, 3, 1000])
      finish(new FileCheck(format, rowCount), bytes, pieceBytes);
    for (let end = 0; end < bytes.length; end += 1)
      assert.throws(() => finish(new FileCheck(format, rowCount), bytes.subarray(0, end)), {
        code: "UNREACHABLE",
      });
    if (format === "ndjson" || format === "csv")
      assert.throws(
        () => finish(new FileCheck(format, rowCount + 1), bytes),
        /the file broke off: \d rows came/,
      );
  });
}
