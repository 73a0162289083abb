/** Formats amounts. They are exact decimals and are rounded only for display. */

/** Zero has no sign, even if it is the rest of a negative number. */
const signDisplay = "negative";
const compact = new Intl.NumberFormat("en", {
  signDisplay,
  notation: "compact",
  maximumFractionDigits: 1,
});
const plain = new Intl.NumberFormat("en", { signDisplay, maximumFractionDigits: 2 });
const money = new Intl.NumberFormat("en", {
  signDisplay,
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});
const whole = new Intl.NumberFormat("en", { signDisplay, maximumFractionDigits: 0 });
/** Halves are rounded away from 50, so that the chances of two outcomes add up to 100: 54.5 and 45.5 are 55 and 45. */
const chances = [0, 1].map((maximumFractionDigits) => {
  const common = { signDisplay, maximumFractionDigits } as const;
  return {
    low: new Intl.NumberFormat("en", { ...common, roundingMode: "halfTrunc" }),
    high: new Intl.NumberFormat("en", { ...common, roundingMode: "halfExpand" }),
  };
});
const digits = new Intl.NumberFormat("en", { signDisplay, maximumSignificantDigits: 3 });

/** Amounts from here on are at least $1,000 when rounded to cents. */
const thousandRounded = 999.995;

/** Smaller amounts would be rounded to nothing or to this. */
const hundredth = 0.01;
/** What binary arithmetic leaves of a difference that is nothing. */
const noise = 1e-9;

/** Shown for an unknown value. */
export const unknown = "–";

type Amount = string | number | null | undefined;

function orUnknown(value: Amount, format: (value: number) => string): string {
  return value === null || value === undefined ? unknown : format(Number(value));
}

/** A price in cents of a dollar: `0.365` is `36.5¢`. */
export function cents(price: Amount): string {
  return orUnknown(price, (value) => `${exact(value * 100)}¢`);
}

/** A price as a probability: `0.365` is `36%`, `0.004` is `0.4%`. Only 0 and 1 are shown as `0%` and `100%`. */
export function percent(price: Amount): string {
  return orUnknown(price, (value) => {
    if (value > noise && value < 0.001) return "<0.1%";
    if (value > 0.999 && value < 1 - noise) return ">99.9%";
    const isNearEdge = (value > 0 && value < 0.02) || (value > 0.98 && value < 1);
    const rounding = chances[isNearEdge ? 1 : 0]?.[value < 0.5 ? "low" : "high"];
    // A product of binary fractions is not exact.
    return `${rounding?.format(Number((value * 100).toFixed(6)))}%`;
  });
}

/** A change of a probability in percentage points: `+2.5 pp`. */
export function points(change: Amount): string {
  return orUnknown(change, (value) => {
    const rounded = Number((value * 100).toFixed(1));
    const digits = Math.abs(rounded) < 10 ? 1 : 0;
    return rounded === 0
      ? "0 pp"
      : `${rounded > 0 ? "+" : "−"}${Math.abs(rounded).toFixed(digits)} pp`;
  });
}

/** Dollars in few digits: `$1.2M`, `$61.20`, `$5`. */
export function dollars(value: Amount): string {
  return orUnknown(value, (amount) => {
    if (amount > noise && amount < hundredth) return `<$${hundredth}`;
    const hasCents = amount < thousandRounded && !Number.isInteger(amount);
    return `$${(hasCents ? money : compact).format(amount)}`;
  });
}

/** Dollars and cents: `$1,204.50`. */
export function exactDollars(value: Amount): string {
  return orUnknown(value, (amount) => {
    if (amount > noise && amount < hundredth) return `<$${hundredth}`;
    const digits = amount >= 1000 || Number.isInteger(amount) ? whole : money;
    return `$${digits.format(amount)}`;
  });
}

/** A gain or a loss in dollars: `+$1.2K`, `−$3.40`, `−$0.00` for less than a cent. */
export function gain(value: Amount): string {
  return orUnknown(value, (amount) => {
    const size = Math.abs(amount);
    if (size < noise) return "$0";
    return `${amount < 0 ? "−" : "+"}${size < hundredth ? "$0.00" : dollars(size)}`;
  });
}

/** A count in few digits: `1.2K`. */
export function count(value: Amount): string {
  return orUnknown(value, (amount) => compact.format(amount));
}

/** A number in full, with at most two decimals. */
export function exact(value: Amount): string {
  return orUnknown(value, (amount) =>
    amount > noise && amount < hundredth ? `<${hundredth}` : plain.format(amount).replace("-", "−"),
  );
}

/** A measurement in three digits: `26.4`, `0.371`, `1,204`. */
export function measure(value: Amount): string {
  return orUnknown(value, (amount) => (Math.abs(amount) < 100 ? digits : whole).format(amount));
}

export function bytes(value: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  const power = Math.min(Math.floor(Math.log10(Math.max(value, 1)) / 3), units.length - 1);
  return `${measure(value / 1000 ** power)} ${units[power]}`;
}

/** Shortens a hash or an address. */
export function short(hex: string): string {
  return hex.length > 14 ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : hex;
}

/** Returns the color class of a change: up, down or neither. */
export function getTone(change: Amount): "up" | "down" | "dim" {
  const value = Number(change ?? 0);
  if (Math.abs(value) < 0.0005) return "dim";
  return value > 0 ? "up" : "down";
}

/** One or many of something: `1 trade`, `1,204 trades`. */
export function plural(value: number, word: string): string {
  return `${whole.format(value)} ${word}${value === 1 ? "" : "s"}`;
}
