import type { UTCTimestamp } from "lightweight-charts";

/**
 * The chart draws all times as if they were UTC, and puts its ticks at UTC midnights. So it is given the clock of the
 * viewer's zone: ticks then fall on the viewer's hours and days. In the hour that a zone repeats each autumn two
 * instants have one clock time; the later one is left out.
 */
export function zonedSeconds(milliseconds: number): UTCTimestamp {
  const offsetMs = new Date(milliseconds).getTimezoneOffset() * 60_000;
  return Math.floor((milliseconds - offsetMs) / 1000) as UTCTimestamp;
}

/** Points in the zone of the viewer, times rising strictly. */
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
