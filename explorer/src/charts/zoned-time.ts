import type { UTCTimestamp } from "lightweight-charts";

/**
 * Returns the viewer's local time as if it were UTC. The chart treats all times as UTC and puts its ticks at UTC
 * midnights, so this puts them at the viewer's hours and days. In the hour that a zone repeats each autumn, two
 * instants have the same local time; `zoned` leaves out the later one.
 */
export function zonedSeconds(milliseconds: number): UTCTimestamp {
  const offsetMs = new Date(milliseconds).getTimezoneOffset() * 60_000;
  return Math.floor((milliseconds - offsetMs) / 1000) as UTCTimestamp;
}

/** Converts points to the viewer's zone, with strictly increasing times. */
export function zoned<
  Point extends { readonly atMs: number },
  Drawn extends { time: UTCTimestamp },
>(points: readonly Point[], draw: (point: Point, time: UTCTimestamp) => Drawn): Drawn[] {
  const drawn: Drawn[] = [];
  for (const point of points) {
    const time = zonedSeconds(point.atMs);
    if (time > (drawn.at(-1)?.time ?? 0)) drawn.push(draw(point, time));
  }
  return drawn;
}
