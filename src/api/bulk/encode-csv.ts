import { type Column, type Row, textOf } from "./columns.ts";
import type { FileEncoder } from "./file-encoder.ts";

/** RFC 4180 with a line of names first; a missing value is empty, an empty text `""`. */
export function encodeCsv(columns: readonly Column[]): FileEncoder {
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
