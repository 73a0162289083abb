import type { FastifyRequest } from "fastify";
import { type TObject, Type } from "typebox";
import { invalid } from "../../base/input/compile-reader.ts";
import { endOf, isAheadOfChain, untilReached } from "../../query/until-reached.ts";
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

/** Resolves when the position is indexed; `null` if it already is. Throws if it is ahead of the chain. */
function untilSeen({ min_seq = 0, cursor }: Asked, backend: Backend): Promise<void> | null {
  const { facts, freshness } = backend;
  const ofCursor = cursor === undefined ? 0 : Cursors.seqOf(cursor);
  const position = Math.max(min_seq, ofCursor);
  if (facts.hasReached(position)) return null;
  const { head_block } = freshness();
  if (!isAheadOfChain(position, head_block)) {
    return untilReached(facts, { position, parameter: ofCursor > min_seq ? "cursor" : parameter });
  }
  // No cursor of ours is ahead of the chain. The list refuses this one.
  if (position === ofCursor) return null;
  throw invalid(parameter, `is ahead of the chain: ${endOf(facts)}`);
}
