/** Metrics of the process itself. */
import { counter, counterOf, gauge, gaugeOf, labelled, type Metric } from "./metric.ts";

export const processMetrics: readonly Metric[] = [
  labelled(
    gaugeOf("oddwire_build_info", "Always 1; the label reports the version"),
    ["version"],
    ({ version }) => [{ labels: { version }, value: 1 }],
  ),
  gauge(
    "oddwire_process_uptime_seconds",
    "Since the start of the process",
    ({ uptime_seconds }) => uptime_seconds,
  ),
  gauge(
    "oddwire_process_resident_memory_bytes",
    "Memory in all, the embedded engine included",
    ({ process }) => process.memory.resident_bytes,
  ),
  gauge(
    "oddwire_process_heap_used_bytes",
    "Of the main thread's heap, what is in use",
    ({ process }) => process.memory.heap_used_bytes,
  ),
  gauge(
    "oddwire_process_heap_total_bytes",
    "Of the main thread's heap, what is reserved",
    ({ process }) => process.memory.heap_total_bytes,
  ),
  gauge(
    "oddwire_process_external_memory_bytes",
    "Buffers outside the heap",
    ({ process }) => process.memory.external_bytes,
  ),
  labelled(
    counterOf("oddwire_process_cpu_seconds_total", "Processor time of all threads"),
    ["mode"],
    ({ process }) => [
      { labels: { mode: "user" }, value: process.cpu_user_seconds },
      { labels: { mode: "system" }, value: process.cpu_system_seconds },
    ],
  ),
  labelled(
    gaugeOf(
      "oddwire_process_event_loop_lag_seconds",
      "How late timers were in the last 10 seconds",
    ),
    ["quantile"],
    ({ process: { event_loop_lag: lag } }) => [
      { labels: { quantile: "0.5" }, value: lag.p50_ms / 1000 },
      { labels: { quantile: "0.99" }, value: lag.p99_ms / 1000 },
      { labels: { quantile: "1" }, value: lag.max_ms / 1000 },
    ],
  ),
  counter(
    "oddwire_process_garbage_collections_total",
    "Runs of the garbage collector in the main thread",
    ({ process }) => process.garbage_collections,
  ),
  counter(
    "oddwire_process_garbage_collection_seconds_total",
    "Time these runs took",
    ({ process }) => process.garbage_collection_seconds,
  ),
];
