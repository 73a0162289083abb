/** What Prometheus is told of the venue's catalogue; nothing without a venue. */
import { byKind, counterOf, gauge, gaugeOf, labelled, type Metric } from "./metric.ts";
import type { Metrics } from "./metrics-schema.ts";

type CatalogueReading = NonNullable<Metrics["catalogue"]>;

export const catalogueMetrics: readonly Metric[] = [
  gauge(
    "oddwire_catalogue_markets",
    "Markets that the venue's catalogue tells of",
    ({ catalogue }) => catalogue?.markets ?? null,
  ),
  gauge(
    "oddwire_catalogue_markets_missing",
    "Markets it was not asked for yet",
    ({ catalogue }) => catalogue?.markets_missing ?? null,
  ),
  gauge(
    "oddwire_catalogue_age_seconds",
    "Since its open half was last read to the end; absent until then",
    ({ catalogue }) => catalogue?.age_seconds ?? null,
  ),
  gauge("oddwire_catalogue_away", "1 while it does not answer", ({ catalogue }) =>
    catalogue === null ? null : Number(catalogue.away),
  ),
  byKind(
    gaugeOf(
      "oddwire_catalogue_contradictions",
      "Markets of which it says something else than the chain, by what; the chain is served",
    ),
    "kind",
    ({ catalogue }) => catalogue?.contradictions ?? {},
  ),
  total("requests_total", "Requests to it", ({ requests }) => requests),
  total("pages_total", "Pages of it that were read, answers about ids aside", ({ pages }) => pages),
  total(
    "unreadable_total",
    "Entries in answers that do not tell which market they are about",
    ({ unreadable }) => unreadable,
  ),
  byKind(
    counterOf("oddwire_catalogue_errors_total", "Requests that failed, by kind"),
    "kind",
    ({ catalogue }) => catalogue?.errors ?? {},
  ),
];

function total(name: string, help: string, read: (reading: CatalogueReading) => number): Metric {
  return labelled(counterOf(`oddwire_catalogue_${name}`, help), [], ({ catalogue }) =>
    catalogue === null ? [] : [{ labels: {}, value: read(catalogue) }],
  );
}
