import { AppError } from "../../../base/errors.ts";
import { defineRoute, type Route } from "../../http/route.ts";
import { oneOf } from "../../lists/list-answer.ts";
import { metaOf } from "../../meta.ts";
import { type KeyServices, keyParams, keySchema, showKey } from "./key-shape.ts";

/** One key by its id, revoked ones too. */
export function getKey({ keys, clock, freshness }: KeyServices): Route {
  return defineRoute({
    method: "GET",
    path: "/v1/keys/{id}",
    access: "admin",
    summary: "Get one API key, without its value",
    params: keyParams,
    response: oneOf(keySchema),
    errors: ["NOT_FOUND"],
    handler: async ({ params, id: requestId }) => {
      const key = await keys.get(params.id.toLowerCase());
      if (key === null) throw new AppError("NOT_FOUND", { publicMessage: "There is no such key" });
      return { data: showKey(key, clock.nowMs()), meta: metaOf(requestId, freshness()) };
    },
  });
}
