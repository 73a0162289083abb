import { useState } from "preact/hooks";
import type { OddwireClient } from "../../../clients/typescript/src/client.ts";
import type { Pages } from "../../../clients/typescript/src/pages.ts";
import { orUnknown } from "./failure.ts";
import { type Resource, useResource } from "./use-resource.ts";

const pageRows = 50;
const rowsMax = 1000;

/** The rows of a list that were read, and how to read more; `null` where the service does not know its subject. */
export type PagedRows<Row> = Resource<{ readonly rows: readonly Row[] | null }> & {
  readonly more: () => void;
  /** Whether there are rows after these. */
  readonly hasMore: boolean;
  /** Whether no more rows are shown. */
  readonly isFull: boolean;
};

/**
 * Reads the first rows of a list regularly, and when `version` changes; more of them on request. All rows are read
 * together, so none is missing or shown twice after the list has changed. Another `name` is another list.
 */
export function usePages<Row>(
  name: string,
  list: (client: OddwireClient, limit: number) => Pages<Row>,
  { everyMs, version }: { readonly everyMs: number; readonly version: number },
): PagedRows<Row> {
  const [requested, setRequested] = useState({ of: name, limit: pageRows });
  const limit = requested.of === name ? requested.limit : pageRows;
  const { data: read, failure } = useResource(
    name,
    async (using) => orUnknown(list(using, limit).page()),
    { everyMs, version: version + limit },
  );
  const page = read?.known ?? null;
  return {
    data: read === null ? null : { rows: page?.data ?? null },
    failure,
    more: () => setRequested({ of: name, limit: Math.min(limit + pageRows, rowsMax) }),
    hasMore: page?.pagination.has_more === true,
    isFull: limit === rowsMax,
  };
}
