import { BlockList, isIP, SocketAddress } from "node:net";

/**
 * Parses an IP address to its canonical spelling: dotted IPv4 (also for IPv4-mapped IPv6), or the
 * shortest lower-case IPv6 without a zone. `null` when the text is neither.
 */
export function parseIpAddress(text: string): string | null {
  const family = isIP(text);
  if (family === 4) return text;
  if (family === 0) return null;
  const [address = ""] = text.split("%");
  const canonical = new SocketAddress({ address, family: "ipv6" }).address;
  return /^::ffff:([0-9]+\.[0-9]+\.[0-9]+\.[0-9]+)$/.exec(canonical)?.[1] ?? canonical;
}

/**
 * Returns the bucket in which requests of an address are counted and blocked: the IPv4 address itself, or the /64 of
 * an IPv6 address. One customer usually has all of a /64. Takes the canonical spelling.
 */
export function toIpBucket(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail = ""] = address.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === "" ? [] : tail.split(":");
  // A dotted tail stands for two groups. It is always last, so never among the first four.
  const groupCount = left.length + right.length + (tail.includes(".") ? 1 : 0);
  const zeros: string[] = Array.from({ length: 8 - groupCount }, () => "0");
  return `${[...left, ...zeros, ...right].slice(0, 4).join(":")}::/64`;
}

/** A set of address ranges, such as `10.0.0.0/8`, `203.0.113.7` or `2001:db8::/32`. */
export class IpRanges {
  /** One list for each family: in a single one, `::/0` would contain every IPv4 address. */
  readonly #ranges = { ipv4: new BlockList(), ipv6: new BlockList() };

  /** Takes ranges that `isIpRange` accepts, and ignores others. */
  constructor(ranges: Iterable<string>) {
    for (const text of ranges) {
      const range = parseIpRange(text);
      if (range === null) continue;
      this.#ranges[range.family].addSubnet(range.address, range.prefixBits, range.family);
    }
  }

  contains(address: string): boolean {
    const family = address.includes(":") ? "ipv6" : "ipv4";
    return this.#ranges[family].check(address, family);
  }
}

/** Whether the text is an address, or a CIDR range. */
export function isIpRange(text: string): boolean {
  return parseIpRange(text) !== null;
}

type IpRange = { address: string; prefixBits: number; family: "ipv4" | "ipv6" };

function parseIpRange(text: string): IpRange | null {
  const match = /^([^/%]+)(?:\/(0|[1-9][0-9]{0,2}))?$/.exec(text);
  const address = parseIpAddress(match?.[1] ?? "");
  if (match === null || address === null) return null;
  const bits = address.includes(":") ? 128 : 32;
  // The prefix of an IPv4-mapped address counts bits of IPv6, so it does not fit the IPv4 address.
  if (match[2] !== undefined && bits === 32 && text.includes(":")) return null;
  const prefixBits = match[2] === undefined ? bits : Number(match[2]);
  if (prefixBits > bits) return null;
  return { address, prefixBits, family: bits === 128 ? "ipv6" : "ipv4" };
}
