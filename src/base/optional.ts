/** Whether an optional value is there; `0`, `0n`, `""` and `false` are. */
export function isGiven<Value>(value: Value | undefined): value is Value {
  return value !== undefined;
}
