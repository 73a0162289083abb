import type { FastifyRequest } from "fastify";
import { type TObject, Type } from "typebox";
import { isAheadOfChain, waitForPosition } from "../../query/wait-for-position.ts";
import type { Backend } from "../backend.ts";
import { Cursors } from "../route/cursor.ts";
import { fillPath, type Route } from "../route/route.ts";

const parameter = "min_seq";
const minSeq = Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER - 1 }));

/**
 * Adds the parameter `min_seq` to a route: the response covers at least this position, and the last indexed position
 * when the cursor was made. A node that is behind waits for a while, then responds `SERVICE_UNAVAILABLE`.
 */
export function withMinSeq(route: Route, backend: Backend): Route {
  const querystring: TObject = Type.Object({
    ...route.querystring.properties,
    [parameter]: minSeq,
  });
  const whenReady = ({ query, params }: FastifyRequest) => {
    const path = fillPath(route.path, params as Readonly<Record<string, unknown>>);
    return untilSeen(query as MinSeqParameters, { ...backend, path });
  };
  return { ...route, querystring, whenReady };
}

type MinSeqParameters = { readonly min_seq?: number; readonly cursor?: string };

/** Waits for the later of both positions, as `waitForPosition` does. Throws `INVALID_CURSOR` instead of waiting for one. */
function untilSeen(
  query: MinSeqParameters,
  { facts, freshness, cursors, path }: Backend & { readonly path: string },
): Promise<void> | null {
  const { min_seq = 0, cursor } = query;
  const { head_block: headBlock } = freshness();
  const ofCursor = cursor === undefined ? 0 : Cursors.toSeq(cursor);
  // No cursor of ours is ahead of the chain. The list refuses such a one.
  if (ofCursor > min_seq && !isAheadOfChain(ofCursor, headBlock) && !facts.hasReached(ofCursor)) {
    // A forged cursor must not wait.
    cursors.decode(path, query);
    return waitForPosition(facts, { position: ofCursor, parameter: "cursor", headBlock });
  }
  return waitForPosition(facts, { position: min_seq, parameter, headBlock });
}
