import { computed } from "@preact/signals";
import { getChoice, setParameters } from "../routing/location.ts";

/** The fields by which markets can be sorted, the default first. */
export const sorts = [
  { name: "volume_24h", title: "24h volume" },
  { name: "volume", title: "Volume" },
  { name: "trades_24h", title: "24h trades" },
  { name: "change_24h", title: "24h change" },
  { name: "liquidity", title: "Liquidity" },
  { name: "end_date", title: "Ends in" },
  { name: "created_at", title: "Created" },
  { name: "last_trade_at", title: "Last trade" },
] as const;

export type SortName = (typeof sorts)[number]["name"];

/** The field by which the list is sorted. */
export const sortName = computed(() =>
  getChoice(
    "sort",
    sorts.map(({ name }) => name),
  ),
);

/** The volume and the time that rows show: those by which the list is sorted, or else of 24 hours and of the end. */
export const shownVolume = computed(() =>
  sortName.value === "volume" ? sortName.value : "volume_24h",
);
export const shownTime = computed(() => {
  const name = sortName.value;
  return name === "created_at" || name === "last_trade_at" ? name : "end_date";
});

/** The times that the last column can show. */
export const timeSorts = ["end_date", "created_at", "last_trade_at"] as const;

/** Returns the title of a field. */
export function titleOfSort(requested: SortName): string {
  return sorts.find(({ name }) => name === requested)?.title ?? "";
}

/** Returns how the list is sorted by a field, as a value of `aria-sort`. */
export function sortedBy(name: SortName): "ascending" | "descending" | "none" {
  if (sortName.value !== name) return "none";
  return getChoice("order", ["desc", "asc"]) === "asc" ? "ascending" : "descending";
}

/** Sorts by a field, or reverses the order if the list is sorted by that field already. */
export function sortBy(name: SortName): void {
  const now = sortedBy(name);
  const first = name === "end_date" ? "asc" : "desc";
  const order = now === "none" ? first : now === "descending" ? "asc" : "desc";
  const sort = name === "volume_24h" ? null : name;
  setParameters({ sort, order: order === "desc" ? null : order }, { isStep: true });
}
