import { useState } from "preact/hooks";
import type { OddwireClient } from "../../../clients/typescript/src/client.ts";
import type { Pages } from "../../../clients/typescript/src/pages.ts";
import { orUnknown } from "./failure.ts";
import { client } from "./session.ts";
import { type Resource, useResource } from "./use-resource.ts";

/** The rows of a list that were read, and how to read more; `null` where the service does not know its subject. */
export type PagedRows<Row> = Resource<{ readonly rows: readonly Row[] | null }> & {
  readonly more: () => Promise<void>;
  readonly hasMore: boolean;
};

/** Reads the first page of a list again regularly, and further pages on request. Another `name` is another list. */
export function usePages<Row>(
  name: string,
  list: (client: OddwireClient) => Pages<Row>,
  everyMs: number,
): PagedRows<Row> {
  const first = useResource(name, async (using) => orUnknown(list(using).page()), { everyMs });
  const [later, setLater] = useState<{
    readonly of: string;
    readonly rows: readonly Row[];
    readonly next: string | null | undefined;
  }>({ of: name, rows: [], next: undefined });
  const own = later.of === name ? later : { of: name, rows: [], next: undefined };
  const page = first.data?.known ?? null;
  const next = own.next === undefined ? page?.pagination.next_cursor : own.next;
  const more = async (): Promise<void> => {
    if (typeof next !== "string") return;
    const { data, pagination } = await list(client.value).page(next);
    setLater({ of: name, rows: [...own.rows, ...data], next: pagination.next_cursor });
  };
  const rows = page === null ? null : [...page.data, ...own.rows];
  const data = first.data === null ? null : { rows };
  return { data, failure: first.failure, more, hasMore: Boolean(next) };
}
