/** A bug in this code: a condition that it relies on does not hold. Input never causes it. */
export class InvariantError extends Error {
  override name = "InvariantError";
}

/** Throws `InvariantError` unless `condition` holds. For bugs only: for bad input, throw an `AppError`. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}
