import { Type } from "typebox";
import { webLimits } from "../../base/config/limits.ts";

/** The formats besides `json`, by the name that is also the ending of their files. */
export const fileFormats = {
  ndjson: { contentType: "application/x-ndjson; charset=utf-8" },
  csv: { contentType: "text/csv; charset=utf-8; header=present" },
  parquet: { contentType: "application/vnd.apache.parquet" },
  arrow: { contentType: "application/vnd.apache.arrow.stream" },
} as const satisfies Readonly<Record<string, { readonly contentType: string }>>;

/** How a file may be asked for. */
export type FileFormatName = keyof typeof fileFormats;

const formats = ["json", ...(Object.keys(fileFormats) as FileFormatName[])] as const;
const format = Type.Enum([...formats], { default: "json" });

/** What lists that can be had as files take next to their filters; pages have `pageRows` by default. */
export function bulkQuery({
  pageRows,
  pageRowsMax = webLimits.pageRowsMax,
}: {
  readonly pageRows: number;
  readonly pageRowsMax?: number;
}) {
  const limit = Type.Integer({
    minimum: 1,
    maximum: pageRowsMax,
    description: `Rows of a page; without it ${pageRows}, or all rows in other formats than json`,
  });
  return { format, limit: Type.Optional(limit) };
}
