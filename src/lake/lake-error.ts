/** A lake cannot be used. The message says what is wrong and where. */
export class LakeError extends Error {
  override name = "LakeError";
}
