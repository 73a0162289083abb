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

/** The end-of-stream message of Arrow IPC: a continuation of four 0xFF bytes and a length of 0. */
const endOfStream = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0);

/** Encodes an Arrow IPC stream with one record batch for each group of rows. */
export function encodeArrow(columns: readonly Column[]): FileEncoder {
  return {
    begin: () => splitStream(toStream(columns, [])).schema,
    add: (rows) => splitStream(toStream(columns, rows)).batches,
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

/** Splits a stream after its schema message: FFFFFFFF, the length of the metadata, the metadata and no body. */
function splitStream(bytes: Uint8Array): { schema: Uint8Array; batches: Uint8Array } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const schemaEnd = 8 + view.getInt32(4, true);
  const end = bytes.length - endOfStream.length;
  return { schema: bytes.slice(0, schemaEnd), batches: bytes.slice(schemaEnd, end) };
}
