import { webLimits } from "../../base/config/limits.ts";
import { type Column, type FileEncoder, type Row, textOf } from "./columns.ts";
import { encodeArrow } from "./encode-arrow.ts";
import { encodeParquet } from "./encode-parquet.ts";

/** The formats whose files are more than their rows, one after the other. */
export type EncodedFormat = "csv" | "parquet" | "arrow";

/** The encoder of a format; takes rows in pieces of any size. */
export function openEncoder(format: EncodedFormat, columns: readonly Column[]): FileEncoder {
  switch (format) {
    case "csv":
      return encodeCsv(columns);
    case "parquet":
      return inGroups(encodeParquet(columns));
    case "arrow":
      return inGroups(encodeArrow(columns));
  }
}

/** Encodes rows in groups: readers process a file group by group, and small groups make that slow. */
function inGroups(encoder: FileEncoder): FileEncoder {
  let gathered: Row[] = [];
  const addGathered = (): Uint8Array => {
    const rows = gathered;
    gathered = [];
    return rows.length === 0 ? new Uint8Array() : encoder.add(rows);
  };
  return {
    begin: encoder.begin,
    add: (rows) => {
      gathered.push(...rows);
      return gathered.length < webLimits.exportGroupRows ? new Uint8Array() : addGathered();
    },
    end: () => Buffer.concat([addGathered(), encoder.end()]),
  };
}

/** RFC 4180 with a line of names first; a missing value is empty, an empty text `""`. */
function encodeCsv(columns: readonly Column[]): FileEncoder {
  const names = columns.map(({ name }) => name);
  const line = (row: Row): string => `${names.map((name) => csvField(row[name])).join(",")}\r\n`;
  return {
    begin: () => Buffer.from(`${names.join(",")}\r\n`),
    add: (rows) => Buffer.from(rows.map(line).join("")),
    end: () => new Uint8Array(),
  };
}

function csvField(value: Row[string] | undefined): string {
  if (value === null || value === undefined) return "";
  const text = textOf(value);
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
