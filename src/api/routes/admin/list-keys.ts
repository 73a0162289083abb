import { Type } from "typebox";
import type { KeyPosition } from "../../../access/api-key.ts";
import { cursor } from "../../http/parameters.ts";
import { defineRoute, type Route } from "../../http/route.ts";
import type { Cursors } from "../../lists/cursor.ts";
import { answerPage, listOf } from "../../lists/list-answer.ts";
import { type KeyServices, keySchema, showKey } from "./key-shape.ts";

const path = "/v1/keys";

/** All keys there ever were. */
export function listKeys(services: KeyServices & { readonly cursors: Cursors }): Route {
  const { keys, clock, cursors } = services;
  return defineRoute({
    method: "GET",
    path,
    access: "admin",
    summary: "List API keys, newest first, revoked ones included",
    querystring: Type.Object({
      limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
      cursor: Type.Optional(cursor),
    }),
    response: listOf(keySchema),
    errors: ["INVALID_CURSOR"],
    handler: async ({ query, id: requestId }) => {
      const after = query.cursor === undefined ? null : positionOf(query.cursor);
      const rows = await keys.list({ limit: query.limit + 1, after });
      const nowMs = clock.nowMs();
      return answerPage(
        services,
        { path, query, rows, positionOf: (key) => [key.createdAtMs, key.id] },
        { requestId, present: (key) => showKey(key, nowMs) },
      );
    },
  });

  function positionOf(text: string): KeyPosition {
    const [createdAtMs, id] = cursors.decode(path, {}, text);
    return { createdAtMs: Number(createdAtMs), id: String(id) };
  }
}
