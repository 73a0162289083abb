/** A value, or a promise of it. */
export type Awaitable<Value> = Value | Promise<Value>;

/** Calls `proceed` with the value: immediately if it is not a promise, so that no turn of the event loop is lost. */
export function thenMaybe<Value, Result>(
  value: Awaitable<Value>,
  proceed: (value: Value) => Awaitable<Result>,
): Awaitable<Result> {
  return value instanceof Promise ? value.then(proceed) : proceed(value);
}
