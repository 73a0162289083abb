import { Type } from "typebox";
import type { Clock } from "../../../base/time/clock.ts";
import { readLabels } from "../../../query/markets/read-labels.ts";
import { type TagFacts, tagRow, toTagRow } from "../../../rows/tag-row.ts";
import { listParameters } from "../../bulk/bulk-format.ts";
import { ListSnapshots } from "../../lists/list-snapshots.ts";
import { type ListParts, listRoute, memorySource } from "../../lists/row-list.ts";
import type { Route } from "../../route/route.ts";

const pageRows = 100;
const querystring = Type.Object({
  ...listParameters({ pageRows }),
});

/** Lists the tags of markets. */
export function listTags(parts: ListParts, clock: Clock): Route {
  return listLabels(parts, clock, {
    kind: "tag",
    path: "/v1/tags",
    summary: "List tags",
    description: "Tags that the venue gave markets, the most traded in 24 hours first",
  });
}

/** Lists the categories of markets. */
export function listCategories(parts: ListParts, clock: Clock): Route {
  return listLabels(parts, clock, {
    kind: "category",
    path: "/v1/categories",
    summary: "List categories",
    description: "Categories that the venue gave markets, the most traded in 24 hours first",
  });
}

/** A list as it was when its first page was requested, because its order changes all the time. */
type Kept = {
  readonly labels: readonly TagFacts[];
  readonly byteLength: number;
  release(): void;
};
/** About what a row takes in memory. */
const rowBytes = 200;

function listLabels(
  parts: ListParts,
  clock: Clock,
  options: Pick<Route, "path" | "summary" | "description"> & { readonly kind: "tag" | "category" },
): Route {
  const snapshots = new ListSnapshots<Kept>(clock);
  const { kind, ...route } = options;
  return listRoute(parts, {
    ...route,
    querystring,
    pageRows,
    row: tagRow,
    cacheControl: "private, max-age=60",
    open: async ({ query, path }) => {
      const after = parts.cursors.decode(path, query);
      const kept = after && snapshots.get(String(after[0]));
      const labels = kept?.labels ?? (await readLabels(parts, kind));
      const put = () =>
        snapshots.put({ labels, byteLength: labels.length * rowBytes, release: () => undefined });
      let name = kept ? String(after?.[0]) : null;
      return memorySource([...labels.entries()], {
        after,
        toPosition: ([index]) => [(name ??= put()), index],
        isAfter: ([index], edge) => index > Number(edge[1]),
      });
    },
    toRow: ([, label]) => toTagRow(label),
  });
}
