import { mustBe } from "./part-unreadable-error.ts";

/** Above this copying by the runtime takes less time than byte by byte. */
const fewBytes = 24;
const matchMin = 4;

/**
 * Unpacks a block of LZ4 (the format without a frame) until `target` is full, which may be before its end.
 * Throws `PartUnreadableError` when it does not fill it or is no such block.
 */
export function unpackLz4(source: Uint8Array, target: Uint8Array): void {
  let [at, to] = [0, 0];
  while (to < target.length) {
    const token = source[at] ?? 0;
    at += 1;
    let literals = token >> 4;
    if (literals === 15) {
      const more = longerBy(source, at);
      literals += more;
      at += bytesOf(more);
    }
    mustBe(at + literals <= source.length, "literals end within their block");
    const literalsEnd = Math.min(to + literals, target.length);
    if (literals > fewBytes) target.set(source.subarray(at, at + literalsEnd - to), to);
    else for (let i = to; i < literalsEnd; i += 1) target[i] = source[at + i - to] ?? 0;
    at += literals;
    to = literalsEnd;
    if (to === target.length) return;

    const distance = (source[at] ?? 0) | ((source[at + 1] ?? 0) << 8);
    at += 2;
    let matched = token & 15;
    if (matched === 15) {
      const more = longerBy(source, at);
      matched += more;
      at += bytesOf(more);
    }
    mustBe(at < source.length, "a block ends with literals");
    mustBe(distance > 0 && distance <= to, "a match begins within what there is");
    copyMatch(target, { from: to - distance, to, length: matched + matchMin });
    to = Math.min(to + matched + matchMin, target.length);
  }
}

/** What a length has beyond 15: bytes that add up, of which all but the last are 255. */
function longerBy(source: Uint8Array, from: number): number {
  let at = from;
  while (source[at] === 255) at += 1;
  return 255 * (at - from) + (source[at] ?? 0);
}

function bytesOf(more: number): number {
  return Math.floor(more / 255) + 1;
}

/** A match may reach into what it makes itself, which repeats it. */
function copyMatch(
  target: Uint8Array,
  { from, to, length }: { readonly from: number; readonly to: number; readonly length: number },
): void {
  const end = Math.min(to + length, target.length);
  if (length > fewBytes && to - from >= fewBytes) {
    // What stands there doubles with every step, as long as it is not enough.
    for (let at = to; at < end; ) {
      const taken = Math.min(at - from, end - at);
      target.copyWithin(at, from, from + taken);
      at += taken;
    }
    return;
  }
  const distance = to - from;
  for (let i = to; i < end; i += 1) target[i] = target[i - distance] ?? 0;
}
