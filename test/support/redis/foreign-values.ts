/** Values of every type of Redis that no node writes: commands that put them in place of what a key has. */
export const foreignValues: Readonly<Record<string, readonly string[]>> = {
  string: ["SET", "", "foreign"],
  number: ["SET", "", "7"],
  "empty string": ["SET", "", ""],
  bitmap: ["SETBIT", "", "100", "1"],
  hyperloglog: ["PFADD", "", "a"],
  list: ["RPUSH", "", "foreign", "values"],
  set: ["SADD", "", "foreign"],
  "sorted set": ["ZADD", "", "1", "foreign"],
  hash: ["HSET", "", "foreign", "value"],
  stream: ["XADD", "", "*", "foreign", "value"],
  "stream at its end": [
    "XADD",
    "",
    "18446744073709551615-18446744073709551615",
    "foreign",
    "value",
  ],
};

/** Returns the commands that replace a key by a value. */
export function toReplace(key: string, value: readonly string[]): readonly string[][] {
  return [["DEL", key], value.map((word, index) => (index === 1 ? key : word))];
}
