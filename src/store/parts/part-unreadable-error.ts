/** A part is not as it is known here, or damaged; the engine, which knows all there are, can tell. */
class PartUnreadableError extends Error {
  override name = "PartUnreadableError";
}

/** Throws `PartUnreadableError` when what was read is not what can be read here. */
export function mustBe(isSo: boolean, what: string): asserts isSo {
  if (!isSo) throw new PartUnreadableError(`not so: ${what}`);
}
