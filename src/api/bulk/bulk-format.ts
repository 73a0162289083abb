import { Type } from "typebox";
import { webLimits } from "../../base/config/limits.ts";
import { cursor } from "../http/parameters.ts";

/** The formats besides `json`. Each name is also the file extension. */
export const fileFormats = {
  ndjson: { contentType: "application/x-ndjson; charset=utf-8" },
  csv: { contentType: "text/csv; charset=utf-8; header=present" },
  parquet: { contentType: "application/vnd.apache.parquet" },
  arrow: { contentType: "application/vnd.apache.arrow.stream" },
} as const satisfies Readonly<Record<string, { readonly contentType: string }>>;

/** A value of `format` that returns a file. */
export type FileFormatName = keyof typeof fileFormats;

const formats = ["json", ...(Object.keys(fileFormats) as FileFormatName[])] as const;
const format = Type.Enum([...formats], { default: "json" });

/** Query parameters that every list with exports takes besides its filters. Pages have `pageRows` rows by default. */
export function listParameters({
  pageRows,
  pageRowsMax = webLimits.pageRowsMax,
}: {
  readonly pageRows: number;
  readonly pageRowsMax?: number;
}) {
  const limit = Type.Integer({
    minimum: 1,
    maximum: pageRowsMax,
    examples: [pageRows],
    description: `Rows of a page; by default ${pageRows}, or all rows in formats other than json`,
  });
  return { format, limit: Type.Optional(limit), cursor: Type.Optional(cursor) };
}
