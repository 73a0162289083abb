/** How values are shown. They come as exact decimals and are rounded here alone, for the eye. */

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const plain = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const nothing = "–";

/** A price in cents of a dollar: `0.365` is `36.5¢`. */
export function cents(price: string | null): string {
  return price === null ? nothing : `${plain.format(Number(price) * 100)}¢`;
}

/** Dollars in few digits: `$1.2M`. */
export function dollars(value: string | null): string {
  return value === null ? nothing : `$${compact.format(Number(value))}`;
}

export function count(value: number | string | null): string {
  return value === null ? nothing : compact.format(Number(value));
}

export function exact(value: number | string | null): string {
  return value === null ? nothing : plain.format(Number(value));
}

export function day(milliseconds: number | null): string {
  return milliseconds === null ? nothing : dateTime.format(milliseconds);
}

export function time(milliseconds: number): string {
  return clock.format(milliseconds);
}

/** Seconds in words: `3 min 20 s`. */
export function duration(seconds: number | null): string {
  if (seconds === null) return nothing;
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [Math.floor(seconds) % 60, "s"],
  ] as const;
  const first = parts.findIndex(([value]) => value > 0);
  if (first === -1) return "0 s";
  return parts
    .slice(first, first + 2)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(" ");
}

export function bytes(value: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  const power = Math.min(Math.floor(Math.log10(Math.max(value, 1)) / 3), units.length - 1);
  return `${plain.format(value / 1000 ** power)} ${units[power]}`;
}

/** A hash or address, recognisable. */
export function short(hex: string): string {
  return hex.length > 14 ? `${hex.slice(0, 8)}…${hex.slice(-4)}` : hex;
}
