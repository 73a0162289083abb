import { Type } from "typebox";
import { oneOf } from "../list-answer.ts";
import { metaOf } from "../meta.ts";
import { defineRoute, type Route } from "../route.ts";
import { issuedKeySchema, type KeyServices, keyParams, showIssuedKey } from "./key-shape.ts";

const daySeconds = 86_400;

/** A new value under the same id. */
export function rotateKey({ keys, freshness }: KeyServices): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/keys/{id}/rotate",
    access: "admin",
    summary: "Give an API key a new value; the old one dies at once or after the grace",
    params: keyParams,
    body: Type.Object({
      grace_seconds: Type.Integer({ minimum: 0, maximum: daySeconds, default: 0 }),
    }),
    response: oneOf(issuedKeySchema),
    errors: ["NOT_FOUND"],
    handler: async ({ params, body, id: requestId }) => {
      const issued = await keys.rotate(params.id.toLowerCase(), body.grace_seconds * 1000);
      return { data: showIssuedKey(issued), meta: metaOf(requestId, freshness()) };
    },
  });
}
