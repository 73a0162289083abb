import { constants, zstdCompressSync } from "node:zlib";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import {
  type Column,
  decimalPrecision,
  decimalScale,
  type FileEncoder,
  getValues,
} from "./columns.ts";

type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]["schema"][number];

const types = {
  integer: { type: "INT64" },
  boolean: { type: "BOOLEAN" },
  decimal: {
    type: "FIXED_LEN_BYTE_ARRAY",
    type_length: 16,
    converted_type: "DECIMAL",
    precision: decimalPrecision,
    scale: decimalScale,
  },
  time: { type: "INT64", converted_type: "TIMESTAMP_MILLIS" },
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
} as const;

const compressionLevel = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Encodes a Parquet file with one row group for each group of rows. Written bytes are released immediately. */
export function encodeParquet(columns: readonly Column[]): FileEncoder {
  const writer = new ByteWriter();
  const file = new ParquetWriter({
    writer,
    schema: [{ name: "schema", num_children: columns.length }, ...columns.map(getElement)],
    codec: "ZSTD",
    compressors: { ZSTD: (bytes) => zstdCompressSync(bytes, compressionLevel) },
    createdBy: "oddwire",
  });
  return {
    begin: () => take(writer),
    add: (rows) => {
      const columnData = columns.map((column) => ({
        name: column.name,
        data: getValues(column, rows),
      }));
      void file.write({ columnData, rowGroupSize: rows.length });
      return take(writer);
    },
    end: () => {
      void file.finish();
      return take(writer);
    },
  };
}

/** Takes the bytes written since the last call. Resetting `index` leaves the writer's file offset unchanged. */
function take(writer: ByteWriter): Uint8Array {
  const bytes = writer.getBytes().slice();
  writer.index = 0;
  return bytes;
}

function getElement({ name, kind, nullable }: Column): SchemaElement {
  return { name, ...types[kind], repetition_type: nullable ? "OPTIONAL" : "REQUIRED" };
}
