/** Formats times in the viewer's time zone. */
import { unknown } from "./numbers.ts";

const dateTime = new Intl.DateTimeFormat("en", {
  dateStyle: "medium",
  timeStyle: "short",
  hourCycle: "h23",
});
const fullDateTime = new Intl.DateTimeFormat("en", {
  dateStyle: "medium",
  timeStyle: "medium",
  hourCycle: "h23",
});
const utcDateTime = new Intl.DateTimeFormat("en", {
  dateStyle: "medium",
  timeStyle: "medium",
  hourCycle: "h23",
  timeZone: "UTC",
});
const clock = new Intl.DateTimeFormat("en", { timeStyle: "medium", hourCycle: "h23" });
const day = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", year: "numeric" });
const shortDateTime = new Intl.DateTimeFormat("en", {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});
const dayOfYear = new Intl.DateTimeFormat("en", { month: "short", day: "numeric" });
const zoneName = new Intl.DateTimeFormat("en", { timeZoneName: "short" });

/** The viewer's time zone: `America/New_York`. */
const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The name of the zone at a time: `GMT-5`, `EST`. */
export function zoneAt(milliseconds: number): string {
  const parts = zoneName.formatToParts(milliseconds);
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? timeZone;
}

/** The name of the zone now, with its place: `America/New York (EST)`. */
export function zoneText(): string {
  const short = zoneAt(Date.now());
  return short === timeZone ? short : `${timeZone.replaceAll("_", " ")} (${short})`;
}

export function timeOfDay(milliseconds: number): string {
  return clock.format(milliseconds);
}

/** Formats a time to the minute, with the zone. */
export function dateAndTime(milliseconds: number): string {
  return `${dateTime.format(milliseconds)} ${zoneAt(milliseconds)}`;
}

/** Formats a time to the second, with the zone. */
export function fullTime(milliseconds: number): string {
  return `${fullDateTime.format(milliseconds)} ${zoneAt(milliseconds)}`;
}

/** Formats a range of time with the zone: `Nov 25, 14:00 – 14:15 EST`. */
export function timeRange(fromMs: number, toMs: number): string {
  return `${shortDateTime.formatRange(fromMs, toMs)} ${zoneAt(toMs)}`;
}

/** Formats a time in the viewer's zone and in UTC, for tooltips. */
export function timeTooltip(milliseconds: number): string {
  const local = fullTime(milliseconds);
  return local.endsWith(" UTC") ? local : `${local} · ${utcDateTime.format(milliseconds)} UTC`;
}

export function date(milliseconds: number): string {
  return day.format(milliseconds);
}

export function monthAndDay(milliseconds: number): string {
  return dayOfYear.format(milliseconds);
}

/** Parses an RFC 3339 time to Unix milliseconds. */
export function toMilliseconds(time: string | null): number | null {
  return time === null ? null : Date.parse(time);
}

const units = [
  [86_400, "d"],
  [3600, "h"],
  [60, "m"],
  [1, "s"],
] as const;

/** Seconds in words of at most two units: `3m 20s`. */
export function duration(seconds: number | null): string {
  if (seconds === null) return unknown;
  let left = Math.max(0, Math.floor(seconds));
  const words: string[] = [];
  for (const [size, unit] of units) {
    const value = Math.floor(left / size);
    left -= value * size;
    if (value > 0) words.push(`${value}${unit}`);
    else if (words.length > 0) break;
  }
  return words.slice(0, 2).join(" ") || "0s";
}

/** How long until a time, in one unit: `3d`, `ended` once it is past. */
export function until(milliseconds: number | null, nowMs: number): string {
  if (milliseconds === null) return unknown;
  const seconds = (milliseconds - nowMs) / 1000;
  return seconds <= 0 ? "ended" : roughly(seconds);
}

/** Returns the figure of an end time: its name, its value and the full time. */
export function describeEnding(
  end: string | null,
  nowMs: number,
): readonly [name: string, value: string, title: string] {
  const endMs = toMilliseconds(end);
  if (endMs === null) return ["Ends in", unknown, ""];
  const title = timeTooltip(endMs);
  return endMs > nowMs
    ? ["Ends in", until(endMs, nowMs), title]
    : ["Ended", ago(endMs, nowMs), title];
}

/** How long ago a time is, in one unit: `3m ago`. */
export function ago(milliseconds: number | null, nowMs: number): string {
  if (milliseconds === null) return unknown;
  const seconds = (nowMs - milliseconds) / 1000;
  return seconds < 1 ? "now" : `${roughly(seconds)} ago`;
}

function roughly(seconds: number): string {
  const [size, unit] = units.find(([one]) => seconds >= one) ?? [1, "s"];
  return `${Math.floor(seconds / size)}${unit}`;
}
