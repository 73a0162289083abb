/** Lists of buckets of time: their parameters, and where their pages begin and end. */
import { Type } from "typebox";
import type { BucketPage } from "../../query/bucket-page.ts";
import { bulkQuery } from "../bulk/bulk-format.ts";
import { checkRange, time } from "../http/parameters.ts";
import type { ListParts, RowSource } from "./row-list.ts";

/** The parameters of a list of buckets of time: a page of at most `pageRows` buckets, or a file. */
export function bucketQuery<Resolution extends string>(
  bucketSeconds: Readonly<Record<Resolution, number>>,
  pageRows: number,
) {
  const resolutions = Object.keys(bucketSeconds) as Resolution[];
  return Type.Object({
    ...bulkQuery({ pageRows }),
    resolution: Type.Enum(resolutions, { default: "1d" }),
    start: Type.Optional(time),
    end: Type.Optional(time),
    order: Type.Enum(["asc", "desc"], { default: "asc" }),
  });
}

type BucketList<Item> = {
  readonly path: string;
  readonly query: {
    readonly cursor?: string | undefined;
    readonly start?: number | undefined;
    readonly end?: number | undefined;
    readonly order: "asc" | "desc";
  };
  readonly bucketSeconds: number;
  /** Reads the first `limit` buckets of a page, in its order. */
  readonly read: (page: BucketPage) => Promise<readonly Item[]>;
};

/** Returns the source of a list of buckets. Without `start` and `end`, pages go back from the newest. */
export function bucketSource<Item extends { readonly bucket: number }>(
  { cursors, state }: ListParts,
  { path, query, bucketSeconds, read }: BucketList<Item>,
): RowSource<Item> {
  checkRange(query, ["start", "end"]);
  const { start, end } = query;
  const [edge] = cursors.decode(path, query) ?? [];
  const order = start === undefined && end === undefined ? "desc" : query.order;
  const toBucket = (ms: number) => Math.ceil(ms / 1000 / bucketSeconds) * bucketSeconds;
  const [from, to] = [start ?? 0, end ?? Number.MAX_SAFE_INTEGER].map(toBucket) as [number, number];
  const { now } = state.dayWindow;
  const page = {
    bucketSeconds,
    order,
    now,
    from: edge === undefined || order === "desc" ? from : Number(edge) + bucketSeconds,
    to: edge === undefined || order === "asc" ? to : Number(edge),
  };
  return {
    first: (limit) => read({ ...page, limit }),
    toPosition: ({ bucket }) => [bucket],
    isReversed: order !== query.order,
  };
}
