/** The worker of `EncodingThread`. It encodes the rows that it receives. */
import { parentPort } from "node:worker_threads";
import { webLimits } from "../../base/config/limits.ts";
import { toError } from "../../base/errors.ts";
import { toPlainText } from "../../base/plain-text.ts";
import { type Column, type FileEncoder, type Row, toText } from "./columns.ts";
import { encodeArrow } from "./encode-arrow.ts";
import { encodeParquet } from "./encode-parquet.ts";
import type { EncodedFormat, FileOrder } from "./encoding-thread.ts";

parentPort?.on("message", ({ format, columns, port }: FileOrder) => {
  const encoder = openEncoder(format, columns);
  port.on("message", (message: string) => {
    try {
      const piece =
        message === "end" || message === "flush"
          ? encoder[message]()
          : encoder.add(JSON.parse(message) as readonly Row[]);
      port.postMessage(piece);
    } catch (thrown) {
      port.postMessage(toError(thrown));
    }
  });
  port.postMessage(encoder.begin());
});

/** Opens the encoder of a format. It takes any number of rows at a time. */
function openEncoder(format: EncodedFormat, columns: readonly Column[]): GroupEncoder {
  switch (format) {
    case "csv":
      return encodeCsv(columns);
    case "parquet":
      return inGroups(encodeParquet(columns));
    case "arrow":
      return inGroups(encodeArrow(columns));
  }
}

/** An encoder that can hold rows back; `flush` encodes them. */
type GroupEncoder = FileEncoder & { readonly flush: () => Uint8Array };

/** Collects rows into groups of `exportGroupRows`. Readers process a file by group, and small groups are slow. */
function inGroups(encoder: FileEncoder): GroupEncoder {
  let gathered: Row[] = [];
  const flush = (): Uint8Array => {
    const rows = gathered;
    gathered = [];
    return rows.length === 0 ? new Uint8Array() : encoder.add(rows);
  };
  return {
    begin: encoder.begin,
    add: (rows) => {
      gathered.push(...rows);
      return gathered.length < webLimits.exportGroupRows ? new Uint8Array() : flush();
    },
    flush,
    end: () => Buffer.concat([flush(), encoder.end()]),
  };
}

/**
 * Encodes CSV (RFC 4180) with a header line. A missing value is empty; an empty string is `""`. A text that begins like a
 * formula, or with an apostrophe, gets an apostrophe before it, so that removing the first one gives the text.
 */
function encodeCsv(columns: readonly Column[]): GroupEncoder {
  const names = columns.map(({ name }) => name);
  const line = (row: Row): string => `${names.map((name) => csvField(row[name])).join(",")}\r\n`;
  return {
    begin: () => Buffer.from(`${names.join(",")}\r\n`),
    add: (rows) => Buffer.from(rows.map(line).join("")),
    flush: () => new Uint8Array(),
    end: () => new Uint8Array(),
  };
}

/** Texts that are not sent as they are. Spreadsheets run a cell that begins with one of these characters as a formula. */
const special = /^$|[",\p{Cc}]|^\s*[=+\-@'\uff1d\uff0b\uff0d\uff20]/u;
const formula = /^\s*[=+\-@'\uff1d\uff0b\uff0d\uff20]/u;
const number = /^-?[0-9]+(?:\.[0-9]+)?$/;

function csvField(value: Row[string] | undefined): string {
  if (value === null || value === undefined) return "";
  const text = toText(value);
  if (!special.test(text)) return text;
  if (number.test(text)) return text;
  const plain = toPlainText(text);
  return `"${formula.test(plain) ? "'" : ""}${plain.replaceAll('"', '""')}"`;
}
