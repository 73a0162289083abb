import { useEffect, useState } from "preact/hooks";
import type { ListMarkets, Market } from "../../../clients/typescript/src/api.ts";
import { duration } from "../format/times.ts";
import { MarketTable } from "../market-list/market-table.tsx";
import { sortBy, sortedBy, sortName, sorts } from "../market-list/sorts.ts";
import { ApiButton } from "../parts/api-button.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { Notice, Shown } from "../parts/states.tsx";
import { Segments } from "../parts/tabs.tsx";
import { getChoice, parameters, setParameters } from "../routing/location.ts";
import { paths, rootPath } from "../routing/paths.ts";
import { client, isCatchingUp, metrics } from "../service/session.ts";
import { type Resource, useResource } from "../service/use-resource.ts";

const pageRows = 40;
const refreshMs = 20_000;
const statuses = ["open", "resolved", "all"] as const;
const orders = ["desc", "asc"] as const;

type Query = ListMarkets["query"];

/** All markets: searched, filtered, sorted and live. */
export function MarketsPage() {
  const query = queryOfAddress();
  const { search, category, tag, status, sort, order, include } = query;
  const { list, more, hasMore } = useMarketList(query);
  const request = {
    title: "Markets",
    path: "/v1/markets",
    query: {
      search,
      category: category?.join(),
      tag: tag?.join(),
      status,
      sort,
      order,
      include,
      limit: pageRows,
    },
  };
  return (
    <>
      <div class="page-head list-head">
        <h1>Markets</h1>
        <Filters query={query} />
        <ApiButton requests={[request]} />
      </div>
      <CatchingUp />
      <Shown of={list} what="list of markets" lines={12}>
        {(markets) =>
          markets.length === 0 ? (
            <NoMatch query={query} />
          ) : (
            <>
              <MarketTable markets={markets} isSortable={search === undefined} />
              {hasMore && <MoreButton key={list.name} label="More markets" onRead={more} />}
            </>
          )
        }
      </Shown>
    </>
  );
}

function queryOfAddress(): Query {
  const text = parameters.value.get("search") ?? "";
  const category = parameters.value.get("category");
  const tag = parameters.value.get("tag");
  const base = {
    status: getChoice("status", statuses),
    limit: pageRows,
    include: "event" as const,
    ...(category === null ? {} : { category: [category] }),
    ...(tag === null ? {} : { tag: [tag] }),
  };
  if (text !== "") return { ...base, search: text.slice(0, 200) };
  return { ...base, sort: sortName.value, order: getChoice("order", orders) };
}

/** Returns the first page, read again regularly, and the pages that were requested after it. */
function useMarketList(query: Query): {
  list: Resource<readonly Market[]> & { readonly name: string };
  more: () => Promise<void>;
  hasMore: boolean;
} {
  const name = `markets ${JSON.stringify(query)}`;
  const first = useResource(name, async (using) => using.markets(query).page(), {
    everyMs: refreshMs,
  });
  const [later, setLater] = useState<{
    readonly of: string;
    readonly rows: readonly Market[];
    readonly next: string | null | undefined;
  }>({ of: name, rows: [], next: undefined });
  const own = later.of === name ? later : { of: name, rows: [], next: undefined };
  const ordered = useSteadyOrder(name, [...(first.data?.data ?? []), ...own.rows]);
  const next = own.next === undefined ? first.data?.pagination.next_cursor : own.next;
  const more = async (): Promise<void> => {
    if (typeof next !== "string") return;
    const { data, pagination } = await client.value.markets(query).page(next);
    setLater({ of: name, rows: [...own.rows, ...data], next: pagination.next_cursor });
  };
  const data = first.data === null ? null : ordered;
  return { list: { name, data, failure: first.failure }, more, hasMore: Boolean(next) };
}

/** Returns new values in the order of the rows on the screen, because a list that moves cannot be read. */
function useSteadyOrder(name: string, markets: readonly Market[]): readonly Market[] {
  const [ids, setIds] = useState<{ readonly of: string; readonly ids: readonly string[] }>({
    of: name,
    ids: [],
  });
  const byId = new Map(markets.map((market) => [market.id, market]));
  const before = ids.of === name ? ids.ids.filter((id) => byId.has(id)) : [];
  const known = new Set(before);
  const all = [...before, ...[...byId.keys()].filter((id) => !known.has(id))];
  useEffect(() => setIds({ of: name, ids: all }), [name, all.join()]);
  return all.flatMap((id) => byId.get(id) ?? []);
}

function Filters({ query }: { readonly query: Query }) {
  const { search } = query;
  return (
    <div class="filters">
      <Segments
        label="Status"
        words={statuses}
        chosen={getChoice("status", statuses)}
        getName={(word) => ({ open: "Open", resolved: "Resolved", all: "All" })[word]}
        onChoose={(status) => setParameters({ status: status === "open" ? null : status }, step)}
      />
      <Categories />
      {search === undefined && <SortChoice />}
      {search !== undefined && (
        <button
          type="button"
          class="chip"
          aria-pressed={true}
          onClick={() => setParameters({ search: null }, step)}
        >
          “{search}” ✕
        </button>
      )}
    </div>
  );
}

/** The sort of the list, for phones and for fields that have no column. */
function SortChoice() {
  const isAscending = sortedBy(sortName.value) === "ascending";
  return (
    <div class="row sort-choice">
      <select
        aria-label="Sort by"
        value={sortName.value}
        onChange={({ currentTarget }) => {
          const chosen = sorts.find(({ name }) => name === currentTarget.value);
          if (chosen !== undefined) sortBy(chosen.name);
        }}
      >
        {sorts.map(({ name, title }) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
      <button
        type="button"
        class="icon"
        aria-label={`${isAscending ? "Ascending" : "Descending"}. Reverse the order`}
        title={isAscending ? "Ascending" : "Descending"}
        onClick={() => sortBy(sortName.value)}
      >
        {isAscending ? "↑" : "↓"}
      </button>
    </div>
  );
}

const step = { isStep: true } as const;

const chipsMax = 12;

/** The most traded categories, or tags if there are no categories, as chips. */
function Categories() {
  const [category, tag] = [parameters.value.get("category"), parameters.value.get("tag")];
  const chosen = tag ?? category;
  const { data } = useResource("labels", async (using) => {
    const query = { limit: chipsMax } as const;
    const categories = (await using.categories(query).page()).data;
    const isTag = categories.length < 2;
    const labels = isTag ? (await using.tags(query).page()).data : categories;
    return { isTag, names: labels.map(({ name }) => name) };
  });
  const names = new Set([...(data?.names ?? []), ...(chosen === null ? [] : [chosen])]);
  // Empty, it keeps the place of the chips, so that the list does not move when they come.
  if (data === null) return <div class="chips" />;
  if (names.size === 0) return null;
  return (
    <div class="chips" role="group" aria-label="Category">
      {[null, ...names].map((name) => (
        <button
          type="button"
          class="chip"
          key={name ?? ""}
          aria-pressed={name === chosen}
          onClick={() =>
            setParameters(
              data.isTag ? { category: null, tag: name } : { category: name, tag: null },
              step,
            )
          }
        >
          {name ?? "All"}
        </button>
      ))}
    </div>
  );
}

function NoMatch({ query }: { readonly query: Query }) {
  const { search, category, tag, status } = query;
  const isFiltered = (search ?? category ?? tag) !== undefined;
  const kind = status === "all" ? "" : `${status} `;
  return (
    <Notice title={isFiltered ? "No markets match" : `There are no ${kind}markets yet`}>
      {!isFiltered && (
        <p>
          A service that starts at the latest block knows only newer markets. Start it with{" "}
          <code>--venue polymarket</code>, which names older ones. For their history, use an earlier{" "}
          <code>--start-block</code> with a new data directory, or fill that from files with{" "}
          <code>oddwire import --lake</code> (
          <a href={`${rootPath}guide/lake`}>how to import a lake</a>).
        </p>
      )}
      {status !== "all" && (
        <button type="button" onClick={() => setParameters({ status: "all" }, step)}>
          Show {status === "open" ? "resolved" : "open"} markets too
        </button>
      )}
      {isFiltered && (
        <button
          type="button"
          onClick={() => setParameters({ search: null, category: null, tag: null }, step)}
        >
          Clear the filters
        </button>
      )}
    </Notice>
  );
}

/** Explains why markets are missing while the service backfills. */
function CatchingUp() {
  if (!isCatchingUp.value) return null;
  const backfill = metrics.value?.indexer.backfill ?? null;
  if (backfill === null) {
    return (
      <p class="stale" role="status">
        The service has not indexed a block yet. <a href={paths.status}>Status</a> shows what it
        waits for.
      </p>
    );
  }
  const { progress_ratio: progress, remaining_seconds: left } = backfill;
  return (
    <p class="stale" role="status">
      The service is catching up: {(progress * 100).toFixed(1)}% is indexed
      {left !== null && `, ${duration(left)} left`}. Newer markets and trades appear as indexing
      catches up.
    </p>
  );
}
