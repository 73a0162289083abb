import type { FastifyRequest } from "fastify";
import { type TObject, Type } from "typebox";
import { isAheadOfChain, untilReached } from "../../query/until-reached.ts";
import type { Backend } from "../backend.ts";
import type { Route } from "../http/route.ts";
import { Cursors } from "./cursor.ts";

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
  const whenReady = ({ query }: FastifyRequest) => untilSeen(query as Asked, backend);
  return { ...route, querystring, whenReady };
}

type Asked = { readonly min_seq?: number; readonly cursor?: string };

/** Waits for the later of both positions, as `untilReached` does. */
function untilSeen({ min_seq = 0, cursor }: Asked, backend: Backend): Promise<void> | null {
  const { facts, freshness } = backend;
  const { head_block: headBlock } = freshness();
  const ofCursor = cursor === undefined ? 0 : Cursors.seqOf(cursor);
  // No cursor of ours is ahead of the chain. The list refuses such a one.
  return ofCursor > min_seq && !isAheadOfChain(ofCursor, headBlock)
    ? untilReached(facts, { position: ofCursor, parameter: "cursor", headBlock })
    : untilReached(facts, { position: min_seq, parameter, headBlock });
}
