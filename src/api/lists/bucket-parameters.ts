/** Lists of buckets of time: their parameters, and where their pages begin and end. */
import { Type } from "typebox";
import type { BucketPage } from "../../query/bucket-page.ts";
import { listParameters } from "../bulk/bulk-format.ts";
import { checkRange, time } from "../http/parameters.ts";
import type { ListParts, RowSource } from "./row-list.ts";

/** The parameters of a list of buckets of time: a page of at most `pageRows` buckets, or a file. */
export function bucketParameters<Resolution extends string>(
  bucketSeconds: Readonly<Record<Resolution, number>>,
  pageRows: number,
) {
  const resolutions = Object.keys(bucketSeconds) as Resolution[];
  return Type.Object({
    ...listParameters({ pageRows }),
    resolution: Type.Enum(resolutions, { default: "1d" }),
    start: Type.Optional(time),
    end: Type.Optional(time),
    order: Type.Enum(["asc", "desc"], { default: "asc" }),
  });
}

type BucketList = {
  readonly path: string;
  readonly query: {
    readonly cursor?: string | undefined;
    readonly start?: number | undefined;
    readonly end?: number | undefined;
    readonly order: "asc" | "desc";
  };
  readonly bucketSeconds: number;
};

/** Returns the whole buckets of a requested time, in Unix seconds. */
export function toBuckets(
  { start, end }: Pick<BucketList["query"], "start" | "end">,
  bucketSeconds: number,
) {
  const at = (ms: number) => Math.ceil(ms / 1000 / bucketSeconds) * bucketSeconds;
  const from = start === undefined ? 0 : at(start);
  return { from, to: end === undefined ? Number.MAX_SAFE_INTEGER : at(end) };
}

/** Returns the page to read. Without `start` and `end`, pages go back from the newest bucket, otherwise in `order`. */
export function toBucketPage(
  { cursors, state }: ListParts,
  { path, query, bucketSeconds }: BucketList,
): Omit<BucketPage, "limit"> {
  checkRange(query, ["start", "end"]);
  const [edge] = cursors.decode(path, query) ?? [];
  const order = query.start === undefined && query.end === undefined ? "desc" : query.order;
  const page = {
    bucketSeconds,
    order,
    now: state.dayWindow.now,
    ...toBuckets(query, bucketSeconds),
  };
  if (edge === undefined) return page;
  const last = Number(edge);
  return order === "asc" ? { ...page, from: last + bucketSeconds } : { ...page, to: last };
}

/** Returns the source of a list of buckets, of which `read` returns the first `limit` of a page, in its order. */
export function bucketSource<Item extends { readonly bucket: number }>(
  parts: ListParts,
  { read, ...list }: BucketList & { readonly read: (page: BucketPage) => Promise<readonly Item[]> },
): RowSource<Item> {
  const page = toBucketPage(parts, list);
  return {
    first: (limit) => read({ ...page, limit }),
    toPosition: ({ bucket }) => [bucket],
    isReversed: page.order !== list.query.order,
  };
}
