import {
  bool,
  columnFromArray,
  type DataType,
  decimal128,
  int64,
  TimeUnit,
  tableFromColumns,
  tableToIPC,
  timestamp,
  utf8,
} from "@uwdata/flechette";
import { assert } from "../../base/assert.ts";
import { endOfStream, getBatches, getSchema } from "./arrow-stream.ts";
import {
  type Column,
  decimalPrecision,
  decimalScale,
  type FileEncoder,
  getValues,
  type Row,
} from "./columns.ts";

const types: Readonly<Record<Column["kind"], () => DataType>> = {
  integer: () => int64(),
  boolean: bool,
  decimal: () => decimal128(decimalPrecision, decimalScale),
  time: () => timestamp(TimeUnit.MILLISECOND, "UTC"),
  text: utf8,
};

/** Encodes an Arrow IPC stream with one record batch for each group of rows. */
export function encodeArrow(columns: readonly Column[]): FileEncoder {
  return {
    begin: () => getSchema(toStream(columns, [])),
    add: (rows) => getBatches(toStream(columns, rows)),
    end: () => endOfStream,
  };
}

function toStream(columns: readonly Column[], rows: readonly Row[]): Uint8Array {
  const entries = columns.map((column) => {
    const values = columnFromArray(getValues(column, rows), types[column.kind]());
    return [column.name, values] as const;
  });
  const bytes = tableToIPC(tableFromColumns(Object.fromEntries(entries)), { format: "stream" });
  assert(bytes !== null, "a table without a sink of its own is encoded in memory");
  return bytes;
}
