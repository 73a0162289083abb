/** A value that is there, or will be. */
export type Awaitable<Value> = Value | Promise<Value>;

/** Goes on with a value: immediately, in the same turn, when it is there. */
export function whenKnown<Value, Result>(
  value: Awaitable<Value>,
  proceed: (value: Value) => Awaitable<Result>,
): Awaitable<Result> {
  return value instanceof Promise ? value.then(proceed) : proceed(value);
}
