import { byKind, counterOf, gaugeOf, labelled, type Metric, one } from "./metric.ts";
import type { Metrics } from "./metrics-schema.ts";

type Books = NonNullable<Metrics["books"]>;

/** Order books and the venue they come from; without one there is none of this. */
export const bookMetrics: readonly Metric[] = [
  ofBooks(
    gaugeOf("oddwire_orderbooks_in_memory", "Order books held"),
    ({ in_memory }) => in_memory,
  ),
  ofBooks(
    gaugeOf("oddwire_orderbooks_stale", "Of them, those that may differ from the venue's"),
    ({ stale }) => stale,
  ),
  ofBooks(
    gaugeOf("oddwire_orderbooks_followed", "Of them, those that clients of the stream follow"),
    ({ followed }) => followed,
  ),
  ofBooks(
    gaugeOf(
      "oddwire_orderbooks_hash_check_enabled",
      "1 while the venue's hashes are believed, else 0",
    ),
    ({ hashes_usable }) => Number(hashes_usable),
  ),
  byKind(
    counterOf(
      "oddwire_orderbooks_resyncs_total",
      "Books that had to be asked for again, by reason",
    ),
    "reason",
    ({ books }) => books?.resyncs ?? {},
  ),
  ofBooks(
    counterOf("oddwire_orderbooks_changes_total", "Levels that the stream sent to have changed"),
    ({ changes }) => changes,
  ),
  ofBooks(
    counterOf("oddwire_orderbooks_snapshots_total", "Whole books that the stream reported"),
    ({ snapshots }) => snapshots,
  ),
  ofBooks(
    counterOf(
      "oddwire_orderbooks_unreadable_total",
      "Messages of the stream that could not be read",
    ),
    ({ unreadable }) => unreadable,
  ),
  ofBooks(
    counterOf("oddwire_orderbooks_hashes_proven_total", "Hashes of the stream that were right"),
    ({ hashes_proven }) => hashes_proven,
  ),
  ofBooks(
    counterOf(
      "oddwire_orderbooks_hash_false_positives_total",
      "Hashes that were wrong of books that were right",
    ),
    ({ false_alarms }) => false_alarms,
  ),
  ofBooks(
    counterOf("oddwire_venue_requests_total", "Requests to the venue for order books"),
    ({ requests }) => requests,
  ),
  byKind(
    counterOf("oddwire_venue_errors_total", "Requests to the venue that failed, by kind"),
    "kind",
    ({ books }) => books?.errors ?? {},
  ),
  ofBooks(
    gaugeOf("oddwire_venue_connections", "Connections to the venue's stream that are open"),
    ({ connections_open }) => connections_open,
  ),
  ofBooks(
    counterOf("oddwire_venue_connections_total", "Connections to the venue's stream made"),
    ({ connections }) => connections,
  ),
];

function ofBooks(head: ReturnType<typeof gaugeOf>, read: (books: Books) => number): Metric {
  return labelled(head, [], ({ books }) => one(books && read(books)));
}
