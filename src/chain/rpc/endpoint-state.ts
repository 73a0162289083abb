import type { Hash } from "../../base/ids.ts";
import type { Header } from "../parse/parse-header.ts";
import type { BlockRef } from "../raw-log.ts";
import type { ChainWarning } from "./chain-warning.ts";

/** What an endpoint last reported about its chain. */
export type EndpointView = {
  /** The block of the tag `latest`. */
  readonly head: Header;
  /** The highest block that is final for it. The hash is `null` if the number is not that of the tag. */
  readonly final: { readonly number: number; readonly hash: Hash | null } | null;
  /** The highest number that its tag `finalized` ever had; -1 before the first. */
  readonly finalMax: number;
  readonly warning: ChainWarning | null;
};

/** What an endpoint reported, and what is believed of it. Times are monotonic. */
export type EndpointState = {
  /** `null` before the first poll. */
  readonly view: EndpointView | null;
  /** The newest block that it reported, by a poll or an announcement. An announcement is only a hint. */
  readonly newest: BlockRef | null;
  /** When `newest` last rose. */
  readonly roseAtMs: number;
  /** When `view` was last reported; initially the start. */
  readonly observedAtMs: number;
  /** When it was last polled and its head was near the believed one; initially the start. */
  readonly levelAtMs: number;
  /** `false` while its head is far above those of the others. Only its head is polled then. */
  readonly isHeadBelieved: boolean;
  /** `false` once a header contradicted a time that came with its logs. All times are then taken from headers. */
  readonly areLogTimesBelieved: boolean;
  /** Whether it had another hash for a final block than the majority. */
  readonly isOutvoted: boolean;
};

/** Why an endpoint cannot be asked, as a phrase. `isPause`: only because it asked for a pause. */
export type EndpointProblem = { readonly isPause: boolean; readonly text: string };

/** A problem that is no pause. */
export function fails(text: string): EndpointProblem {
  return { isPause: false, text };
}
