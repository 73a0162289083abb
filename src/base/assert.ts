/** A bug of ours: something the code relies on did not hold. Never caused by input. */
export class InvariantError extends Error {
  override name = "InvariantError";
}

/** Throws `InvariantError` unless `condition` holds. For bugs only; bad input gets an `AppError`. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}
