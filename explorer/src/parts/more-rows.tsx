import type { PagedRows } from "../service/use-pages.ts";
import { MoreButton } from "./more-button.tsx";

/** The end of a list: a button for more rows, or where the rest is. */
export function MoreRows(props: { readonly of: PagedRows<unknown>; readonly label: string }) {
  const { hasMore, isFull, more } = props.of;
  if (!hasMore) return null;
  if (isFull) return <p class="dim">The list ends here. The API has all rows, also as one file.</p>;
  return <MoreButton label={props.label} onRead={async () => more()} />;
}
