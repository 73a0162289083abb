import { Type } from "typebox";
import { bulkQuery } from "../bulk/bulk-format.ts";
import { cursor, time } from "../http/parameters.ts";

/** The parameters of a list of buckets of time: a page of at most `pageRows` buckets, or a file. */
export function bucketQuery<Resolution extends string>(
  bucketSeconds: Readonly<Record<Resolution, number>>,
  pageRows: number,
) {
  const resolutions = Object.keys(bucketSeconds) as Resolution[];
  return Type.Object({
    ...bulkQuery({ pageRows }),
    cursor: Type.Optional(cursor),
    resolution: Type.Enum(resolutions, { default: "1d" }),
    start: Type.Optional(time),
    end: Type.Optional(time),
    order: Type.Enum(["asc", "desc"], { default: "asc" }),
  });
}
