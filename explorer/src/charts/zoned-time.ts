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

/** Returns the instant that has a local time; the earlier one of two. */
export function toInstant(local: UTCTimestamp): number {
  const date = new Date(local * 1000);
  const [day, month, year] = [date.getUTCDate(), date.getUTCMonth(), date.getUTCFullYear()];
  const clock = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()] as const;
  return new Date(year, month, day, ...clock).getTime();
}

/** Converts points to the viewer's zone, with strictly increasing times. */
export function zoned<Point, Drawn extends { time: UTCTimestamp }>(
  points: readonly Point[],
  toTime: (point: Point) => number,
  draw: (point: Point, time: UTCTimestamp) => Drawn,
): Drawn[] {
  const drawn: Drawn[] = [];
  for (const point of points) {
    const time = zonedSeconds(toTime(point));
    if (time > (drawn.at(-1)?.time ?? 0)) drawn.push(draw(point, time));
  }
  return drawn;
}
