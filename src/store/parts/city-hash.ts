/**
 * CityHash128 of version 1.0.2, the checksum that the engine puts in front of every compressed block.
 *
 * Numbers of 64 bits are two halves of 32 in places of their own, as V8 has none that could be kept without making
 * an object of each: what hashes a page would leave half a megabyte behind, and collecting that takes longer than the disk does.
 */

/** Where the numbers have their low halves; the high ones are behind them. */
const [x, y, z, v0, v1, w0, w1] = [0, 2, 4, 6, 8, 10, 12] as const;
/** For one thing at a time. */
const [a, b, c] = [14, 16, 18] as const;
/** The primes of the algorithm. */
const [k0, k1, k2, k3, kMix] = [20, 22, 24, 26, 28] as const;
const state = new Int32Array(30);
state.set([0x97cb3127, 0xc3a5c85c, 0xbe98f273, 0xb492b66f, 0x2f90404f, 0x9ae16a3b], k0);
state.set([0x509e6557, 0xc949d7c7, 0xeb382d69, 0x9ddfea08], k3);

const strideBytes = 64;

/** A hash: its low 64 bits, then its high ones, each as two halves with the low one in front, signed. */
export type Hash128 = readonly [number, number, number, number];

/** The hash of the bytes from `from` on up to `to`. */
export function cityHash128(bytes: DataView, from: number, to: number): Hash128 {
  const length = to - from;
  if (length >= 16) {
    load(x, bytes, from);
    xor(x, x, k3);
    load(y, bytes, from + 8);
    hashWithSeed(bytes, from + 16, to);
  } else if (length >= 8) {
    put(x, length);
    times(x, x, k0);
    load(a, bytes, from);
    xor(x, a, x);
    load(y, bytes, to - 8);
    xor(y, y, k1);
    hashWithSeed(bytes, from, from);
  } else {
    copy(x, k0);
    copy(y, k1);
    hashWithSeed(bytes, from, to);
  }
  return [half(x), half(x + 1), half(y), half(y + 1)];
}

/** Of the seed in x and y; the hash takes its place. */
function hashWithSeed(bytes: DataView, from: number, to: number): void {
  const length = to - from;
  if (length < 2 * strideBytes) return hashShort(bytes, from, to);
  const end = to - (length % (2 * strideBytes));
  begin(bytes, from, to);
  hashStrides(bytes, from, end);
  finish(bytes, end, to);
}

function begin(bytes: DataView, from: number, to: number): void {
  put(z, to - from);
  times(z, z, k1);
  xor(a, y, k1);
  rotate(a, a, 49);
  times(a, a, k1);
  load(v0, bytes, from);
  plus(v0, v0, a);
  rotate(a, v0, 42);
  times(a, a, k1);
  load(v1, bytes, from + 8);
  plus(v1, v1, a);
  plus(a, y, z);
  rotate(a, a, 35);
  times(a, a, k1);
  plus(w0, a, x);
  load(a, bytes, from + 88);
  plus(a, x, a);
  rotate(a, a, 53);
  times(w1, a, k1);
}

/** The bytes behind the last whole pair of strides, read from the end on, and the final mix. */
function finish(bytes: DataView, from: number, to: number): void {
  rotate(a, w0, 37);
  times(a, a, k0);
  plus(a, a, z);
  plus(y, y, a);
  plus(a, v0, z);
  rotate(a, a, 49);
  times(a, a, k0);
  plus(x, x, a);
  for (let at = to; at > from; ) {
    at -= 32;
    minus(a, y, x);
    rotate(a, a, 42);
    times(a, a, k0);
    plus(y, a, v1);
    load(a, bytes, at + 16);
    plus(w0, w0, a);
    rotate(a, x, 49);
    times(a, a, k0);
    plus(x, a, w0);
    plus(w0, w0, v0);
    copy(a, v0);
    copy(b, v1);
    weakMix(bytes, at, v0);
  }
  mix(x, x, v0);
  mix(y, y, w0);
  plus(a, x, v1);
  mix(a, a, w1);
  plus(b, y, v1);
  plus(z, x, w1);
  plus(x, a, y);
  mix(y, z, b);
}

/** Of less than 128 bytes. */
function hashShort(bytes: DataView, from: number, to: number): void {
  const length = to - from;
  if (length <= 16) {
    hashUpTo16(bytes, from, to);
    times(x, x, k1);
    shiftMix(x);
    times(x, x, k1);
    times(a, y, k1);
    plus(w0, a, z);
    if (length >= 8) load(w1, bytes, from);
    else copy(w1, w0);
    plus(w1, x, w1);
    shiftMix(w1);
  } else {
    load(a, bytes, to - 8);
    plus(a, a, k1);
    mix(w0, a, x);
    put(a, length);
    plus(a, y, a);
    load(b, bytes, to - 16);
    plus(b, w0, b);
    mix(w1, a, b);
    plus(x, x, w1);
    for (let at = from; to - at > 16 || at === from; at += 16) {
      takeIn(x, bytes, at);
      xor(y, y, x);
      takeIn(w0, bytes, at + 8);
      xor(w1, w1, w0);
    }
  }
  mix(x, x, w0);
  mix(b, w1, y);
  mix(y, b, x);
  xor(x, x, b);
}

/** Into z. */
function hashUpTo16(bytes: DataView, from: number, to: number): void {
  const length = to - from;
  if (length === 0) return copy(z, k2);
  if (length > 8) {
    load(a, bytes, from);
    load(b, bytes, to - 8);
    put(z, length);
    plus(z, b, z);
    rotate(z, z, length);
    mix(z, a, z);
    xor(z, z, b);
  } else if (length >= 4) {
    const first = bytes.getInt32(from, true);
    state[a] = first << 3;
    state[a + 1] = first >>> 29;
    put(z, length);
    plus(a, a, z);
    put(b, bytes.getInt32(to - 4, true));
    mix(z, a, b);
  } else {
    put(a, bytes.getUint8(from) + (bytes.getUint8(from + (length >> 1)) << 8));
    times(a, a, k2);
    put(b, length + (bytes.getUint8(to - 1) << 2));
    times(b, b, k3);
    xor(z, a, b);
    shiftMix(z);
    times(z, z, k2);
  }
}

/** 8 bytes into a number. */
function takeIn(to: number, bytes: DataView, at: number): void {
  load(a, bytes, at);
  times(a, a, k1);
  shiftMix(a);
  times(a, a, k1);
  xor(to, to, a);
  times(to, to, k1);
}

/** 128 bits into 64. */
function mix(to: number, low: number, high: number): void {
  xor(c, low, high);
  times(c, c, kMix);
  shiftMix(c);
  xor(c, high, c);
  times(c, c, kMix);
  shiftMix(c);
  times(to, c, kMix);
}

function half(place: number): number {
  return state[place] as number;
}

/** An unsigned number of 32 bits. */
function put(to: number, value: number): void {
  state[to] = value;
  state[to + 1] = 0;
}

function copy(to: number, from: number): void {
  state[to] = half(from);
  state[to + 1] = half(from + 1);
}

function load(to: number, bytes: DataView, at: number): void {
  state[to] = bytes.getInt32(at, true);
  state[to + 1] = bytes.getInt32(at + 4, true);
}

function xor(to: number, left: number, right: number): void {
  state[to] = half(left) ^ half(right);
  state[to + 1] = half(left + 1) ^ half(right + 1);
}

function plus(to: number, left: number, right: number): void {
  const [l, r] = [half(left), half(right)];
  const low = (l + r) | 0;
  state[to] = low;
  state[to + 1] = (half(left + 1) + half(right + 1) + carry(l, r, low)) | 0;
}

function minus(to: number, left: number, right: number): void {
  const [l, r] = [half(left), half(right)];
  // What is taken away and what is left make up what there was.
  const low = (l - r) | 0;
  state[to] = low;
  state[to + 1] = (half(left + 1) - half(right + 1) - carry(low, r, l)) | 0;
}

function times(to: number, left: number, right: number): void {
  const [l, r] = [half(left), half(right)];
  const crossed = (Math.imul(l, half(right + 1)) + Math.imul(half(left + 1), r)) | 0;
  state[to] = Math.imul(l, r);
  state[to + 1] = (highOfProduct(l, r) + crossed) | 0;
}

/** To the right, by neither 0 nor 32 bits. */
function rotate(to: number, from: number, bits: number): void {
  const isSwapped = bits > 32;
  const low = half(isSwapped ? from + 1 : from);
  const high = half(isSwapped ? from : from + 1);
  state[to] = (low >>> bits) | (high << -bits);
  state[to + 1] = (high >>> bits) | (low << -bits);
}

function shiftMix(place: number): void {
  state[place] = half(place) ^ (half(place + 1) >>> 15);
}

/** What nearly all of the time goes into: an even number of strides of 64 bytes. */
function hashStrides(bytes: DataView, from: number, to: number): void {
  for (let at = from; at < to; at += strideBytes) {
    mixAhead(bytes, at);
    times(a, v1, k1);
    plus(b, x, w0);
    weakMix(bytes, at, v0);
    plus(a, z, w1);
    copy(b, y);
    weakMix(bytes, at + 32, w0);
    copy(a, x);
    copy(x, z);
    copy(z, a);
  }
}

/** x = rotate(x + y + v0 + word 2, 37) * k1 ^ w1; y = rotate(y + v1 + word 6, 42) * k1 ^ v0; z = rotate(z ^ w0, 33). */
function mixAhead(bytes: DataView, at: number): void {
  let al = half(x);
  let ah = half(x + 1);
  let bl = half(y);
  let bh = half(y + 1);
  let sl = (al + bl) | 0;
  let sh = (ah + bh + carry(al, bl, sl)) | 0;
  al = half(v0);
  ah = half(v0 + 1);
  bl = (sl + al) | 0;
  bh = (sh + ah + carry(sl, al, bl)) | 0;
  al = bytes.getInt32(at + 16, true);
  ah = bytes.getInt32(at + 20, true);
  sl = (bl + al) | 0;
  sh = (bh + ah + carry(bl, al, sl)) | 0;
  al = (sh >>> 5) | (sl << 27);
  ah = (sl >>> 5) | (sh << 27);
  state[x] = Math.imul(al, k1Low) ^ half(w1);
  state[x + 1] = timesK1High(al, ah) ^ half(w1 + 1);

  al = half(y);
  ah = half(y + 1);
  bl = half(v1);
  bh = half(v1 + 1);
  sl = (al + bl) | 0;
  sh = (ah + bh + carry(al, bl, sl)) | 0;
  al = bytes.getInt32(at + 48, true);
  ah = bytes.getInt32(at + 52, true);
  bl = (sl + al) | 0;
  bh = (sh + ah + carry(sl, al, bl)) | 0;
  al = (bh >>> 10) | (bl << 22);
  ah = (bl >>> 10) | (bh << 22);
  state[y] = Math.imul(al, k1Low) ^ half(v0);
  state[y + 1] = timesK1High(al, ah) ^ half(v0 + 1);

  al = half(z) ^ half(w0);
  ah = half(z + 1) ^ half(w0 + 1);
  state[z] = (ah >>> 1) | (al << 31);
  state[z + 1] = (al >>> 1) | (ah << 31);
}

/** 32 bytes, a and b into a pair. */
function weakMix(bytes: DataView, at: number, to: number): void {
  let nl = bytes.getInt32(at, true);
  let nh = bytes.getInt32(at + 4, true);
  let pl = half(a);
  let ph = half(a + 1);
  const cl = (pl + nl) | 0;
  const ch = (ph + nh + carry(pl, nl, cl)) | 0;
  const dl = bytes.getInt32(at + 24, true);
  const dh = bytes.getInt32(at + 28, true);
  pl = half(b);
  ph = half(b + 1);
  let l = (pl + cl) | 0;
  let h = (ph + ch + carry(pl, cl, l)) | 0;
  let sl = (l + dl) | 0;
  let sh = (h + dh + carry(l, dl, sl)) | 0;
  const bl = (sl >>> 21) | (sh << 11);
  const bh = (sh >>> 21) | (sl << 11);
  nl = bytes.getInt32(at + 8, true);
  nh = bytes.getInt32(at + 12, true);
  l = (cl + nl) | 0;
  h = (ch + nh + carry(cl, nl, l)) | 0;
  nl = bytes.getInt32(at + 16, true);
  nh = bytes.getInt32(at + 20, true);
  pl = (l + nl) | 0;
  ph = (h + nh + carry(l, nl, pl)) | 0;
  sl = (ph >>> 12) | (pl << 20);
  sh = (pl >>> 12) | (ph << 20);
  l = (bl + sl) | 0;
  h = (bh + sh + carry(bl, sl, l)) | 0;
  sl = (pl + dl) | 0;
  state[to] = sl;
  state[to + 1] = (ph + dh + carry(pl, dl, sl)) | 0;
  sl = (l + cl) | 0;
  state[to + 2] = sl;
  state[to + 3] = (h + ch + carry(l, cl, sl)) | 0;
}

/** Of the sum of two low halves. */
function carry(left: number, right: number, sum: number): number {
  return ((left & right) | ((left | right) & ~sum)) >>> 31;
}

const k1Low = half(k1);
const k1High = half(k1 + 1);

/** The high half of a number times `k1`; the low one is a single multiplication. */
function timesK1High(low: number, high: number): number {
  const crossed = (Math.imul(low, k1High) + Math.imul(high, k1Low)) | 0;
  return (highOfProduct(low, k1Low) + crossed) | 0;
}

/** Of two low halves, in pieces of 16 bits: no number on the way is longer than its half. */
function highOfProduct(left: number, right: number): number {
  const [left0, left1] = [left & 0xffff, left >>> 16];
  const [right0, right1] = [right & 0xffff, right >>> 16];
  const m = Math.imul(left1, right0);
  const n = Math.imul(left0, right1);
  const middle = (Math.imul(left0, right0) >>> 16) + (m & 0xffff) + (n & 0xffff);
  return (Math.imul(left1, right1) + (m >>> 16) + (n >>> 16) + (middle >>> 16)) | 0;
}
