import assert from "node:assert/strict";

/** Parses CSV strictly by RFC 4180. An empty field is `null`, an empty quoted one is a string. */
export function parseCsv(text: string): (string | null)[][] {
  const records: (string | null)[][] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  for (let record: (string | null)[] = []; field.lastIndex < text.length; ) {
    const [, quoted, plain = "", end] = field.exec(text) ?? assert.fail("no field");
    record.push(
      quoted === undefined ? (plain === "" ? null : plain) : quoted.replaceAll('""', '"'),
    );
    if (end === ",") continue;
    records.push(record);
    record = [];
  }
  return records;
}
