const polynomial = 0xedb88320;

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? polynomial ^ (value >>> 1) : value >>> 1;
  return value;
});

/** Returns the unsigned CRC-32 of an ASCII text, as zlib computes it. Browsers have no such function. */
export function crc32(text: string): number {
  let crc = ~0;
  for (let i = 0; i < text.length; i += 1) {
    crc = (table[(crc ^ text.charCodeAt(i)) & 0xff] ?? 0) ^ (crc >>> 8);
  }
  return ~crc >>> 0;
}
