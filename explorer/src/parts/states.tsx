/** Placeholders of a view: messages, failures and the lines shown while loading. */
import type { ComponentChildren } from "preact";
import { duration } from "../format/times.ts";
import { paths } from "../routing/paths.ts";
import type { Failure } from "../service/failure.ts";
import { resumesInSeconds } from "../service/limited-fetch.ts";
import { isCatchingUp } from "../service/session.ts";
import type { Resource } from "../service/use-resource.ts";

/** A message in the place of content. */
export function Notice(props: {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly tone?: "plain" | "warning" | "good";
}) {
  return (
    <div class={`notice ${props.tone ?? "plain"}`} role="status">
      <strong>{props.title}</strong>
      {props.children !== undefined && <div>{props.children}</div>}
    </div>
  );
}

/** Gray lines where content will be. */
export function Skeleton({ lines = 4 }: { readonly lines?: number }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, at) => (
        <span key={at} />
      ))}
    </div>
  );
}

/** A gray bar in the place of a value that is being read. */
export function Pending() {
  return <span class="pending" role="img" aria-label="Loading" />;
}

/** Why something could not be read, and what to do. */
export function FailureNotice(props: { readonly failure: Failure; readonly what: string }) {
  const { failure, what } = props;
  switch (failure.kind) {
    case "missing":
      return (
        <Notice title={`This ${what} is not known here`}>
          {isCatchingUp.value
            ? "It may be in blocks that are not indexed yet. "
            : "It may be older than the first indexed block. "}
          Check the id, or <a href={paths.markets}>search all markets</a>.
        </Notice>
      );
    case "unreachable":
      return (
        <Notice title="Connection lost" tone="warning">
          Reconnecting…
        </Notice>
      );
    case "limited":
      return (
        <Notice title={failure.message} tone="warning">
          Retrying automatically
          <Countdown />.
        </Notice>
      );
    case "forbidden":
      return (
        <Notice title="This key may not do that" tone="warning">
          {failure.message}
        </Notice>
      );
    case "key":
    case "refused":
      return (
        <Notice title={`The ${what} cannot be shown`} tone="warning">
          {failure.message}
        </Notice>
      );
  }
}

/** The time until the service allows requests again. Screen readers would read every second of it. */
export function Countdown() {
  const seconds = resumesInSeconds.value;
  return seconds === null ? null : <span aria-hidden="true"> in {duration(seconds)}</span>;
}

/** Shows the data of a resource; while there is none, its failure or gray lines. */
export function Shown<T>(props: {
  readonly of: Resource<T>;
  readonly what: string;
  readonly lines?: number;
  readonly children: (data: T) => ComponentChildren;
}) {
  const { data, failure } = props.of;
  if (data !== null) return <>{props.children(data)}</>;
  // The banner of the page says that the connection is lost.
  if (failure !== null && failure.kind !== "unreachable")
    return <FailureNotice failure={failure} what={props.what} />;
  return <Skeleton lines={props.lines ?? 4} />;
}
