import type { Column, Row } from "./columns.ts";

/** Pieces of a file whose rows come in chunks. */
type Pieces = AsyncGenerator<string, void, undefined>;

type Chunks = AsyncIterable<readonly Row[]>;

/** Every row as the JSON that lists hold, one a line. */
export async function* encodeNdjson(_columns: readonly Column[], chunks: Chunks): Pieces {
  for await (const rows of chunks) yield rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

/** RFC 4180 with a line of names first; a missing value is empty, an empty text `""`. */
export async function* encodeCsv(columns: readonly Column[], chunks: Chunks): Pieces {
  const names = columns.map(({ name }) => name);
  yield `${names.join(",")}\r\n`;
  for await (const rows of chunks)
    yield rows.map((row) => `${names.map((name) => csvField(row[name])).join(",")}\r\n`).join("");
}

function csvField(value: Row[string] | undefined): string {
  if (value === null || value === undefined) return "";
  const text = String(value);
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
