/** Prometheus metrics of the venue's market metadata; none without a venue. */
import { byKind, counterOf, gauge, gaugeOf, labelled, type Metric } from "./metric.ts";
import type { Metrics } from "./metrics-schema.ts";

type MetadataReading = NonNullable<Metrics["market_metadata"]>;

export const metadataMetrics: readonly Metric[] = [
  gauge(
    "oddwire_metadata_markets",
    "Markets with metadata from the venue",
    ({ market_metadata: metadata }) => metadata?.markets ?? null,
  ),
  gauge(
    "oddwire_metadata_markets_missing",
    "Markets it was not asked for yet",
    ({ market_metadata: metadata }) => metadata?.markets_missing ?? null,
  ),
  gauge(
    "oddwire_metadata_age_seconds",
    "Since its open half was last read to the end; absent until then",
    ({ market_metadata: metadata }) => metadata?.age_seconds ?? null,
  ),
  gauge(
    "oddwire_metadata_up",
    "1 while the venue's metadata API answers",
    ({ market_metadata: metadata }) => (metadata === null ? null : Number(metadata.up)),
  ),
  byKind(
    gaugeOf(
      "oddwire_metadata_contradictions",
      "Markets of which it says something else than the chain, by what; the chain is served",
    ),
    "kind",
    ({ market_metadata: metadata }) => metadata?.contradictions ?? {},
  ),
  total("requests_total", "Requests to it", ({ requests }) => requests),
  total("pages_total", "Pages of it that were read, answers about ids aside", ({ pages }) => pages),
  total(
    "unreadable_total",
    "Entries in answers that do not say which market they are about",
    ({ unreadable }) => unreadable,
  ),
  byKind(
    counterOf("oddwire_metadata_errors_total", "Requests that failed, by kind"),
    "kind",
    ({ market_metadata: metadata }) => metadata?.errors ?? {},
  ),
];

function total(name: string, help: string, read: (reading: MetadataReading) => number): Metric {
  return labelled(
    counterOf(`oddwire_metadata_${name}`, help),
    [],
    ({ market_metadata: metadata }) =>
      metadata === null ? [] : [{ labels: {}, value: read(metadata) }],
  );
}
