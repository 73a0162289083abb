import type { ConditionId, TokenId } from "../../base/ids.ts";
import { isGen3TokenId } from "../../market/ids/gen3-ids.ts";

const idBytes = 32;

/**
 * The ids of the conditions of tokens, all as bytes that follow each other; zeros where that is not known.
 * `conditionOf` is asked for tokens that do not say it themselves.
 */
export function conditionIdsOf(
  tokenIds: Uint32Array,
  conditionOf: (tokenId: TokenId) => ConditionId | undefined,
): Buffer<ArrayBuffer> {
  const ids = Buffer.from(tokenIds.slice().buffer);
  for (let start = 0; start < ids.length; start += idBytes) {
    if (isGen3TokenId(ids, start)) {
      ids[start + idBytes - 1] = 0;
      continue;
    }
    const conditionId = conditionOf(idAt(ids, start) as TokenId);
    if (conditionId === undefined) ids.fill(0, start, start + idBytes);
    else ids.write(conditionId.slice(2), start, "hex");
  }
  return ids;
}

/** Ids that follow each other, one by one. */
export function* idsIn<Id extends string>(ids: Buffer): Generator<Id, void, undefined> {
  for (let start = 0; start < ids.length; start += idBytes) yield idAt(ids, start) as Id;
}

function idAt(ids: Buffer, start: number): string {
  return `0x${ids.toString("hex", start, start + idBytes)}`;
}
