import { Type } from "typebox";
import type { Clock } from "../../../base/time/clock.ts";
import { readLabels } from "../../../query/markets/read-labels.ts";
import { type TagFacts, tagRow, toTagRow } from "../../../rows/tag-row.ts";
import { bulkQuery } from "../../bulk/bulk-format.ts";
import { cursor } from "../../http/parameters.ts";
import { ListSnapshots } from "../../lists/list-snapshots.ts";
import { memorySource } from "../../lists/memory-source.ts";
import { answerList, type ListParts, publicAs, rowListRoute } from "../../lists/row-list.ts";
import { defineRoute, type Route } from "../../route/route.ts";

const pageRows = 100;
const querystring = Type.Object({
  ...bulkQuery({ pageRows }),
  cursor: Type.Optional(cursor),
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

const present = ([, label]: readonly [number, TagFacts]) => toTagRow(label);

function listLabels(
  parts: ListParts,
  clock: Clock,
  options: Pick<Route, "path" | "summary" | "description"> & { readonly kind: "tag" | "category" },
): Route {
  const snapshots = new ListSnapshots<Kept>(clock);
  const { kind, ...route } = options;
  return defineRoute({
    ...rowListRoute(tagRow),
    ...route,
    querystring,
    cacheControl: "private, max-age=60",
    handler: async ({ query }, reply) => {
      const after = parts.cursors.decode(route.path, query);
      const kept = after && snapshots.get(String(after[0]));
      const labels = kept?.labels ?? (await readLabels(parts, kind));
      const put = () =>
        snapshots.put({ labels, byteLength: labels.length * rowBytes, release: () => undefined });
      let name = kept ? String(after?.[0]) : null;
      const source = memorySource([...labels.entries()], {
        after,
        toPosition: ([index]) => [(name ??= put()), index],
        isAfter: ([index], edge) => index > Number(edge[1]),
      });
      const list = { path: route.path, query, pageRows, row: tagRow, source, ...publicAs(present) };
      return answerList(parts, reply, list);
    },
  });
}
