import { Type } from "typebox";
import { defineRoute, type Route } from "../../http/route.ts";
import { oneOf } from "../../lists/list-answer.ts";
import { metaOf } from "../../meta.ts";
import { issuedKeySchema, type KeyServices, keyParams, showIssuedKey } from "./key-shape.ts";

const daySeconds = 86_400;

/** A new value under the same id. */
export function rotateKey({ keys, audit, freshness }: KeyServices): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/keys/{id}/rotate",
    access: "admin",
    summary: "Give an API key a new value; the old one dies immediately or after the grace",
    params: keyParams,
    body: Type.Object({
      grace_seconds: Type.Integer({ minimum: 0, maximum: daySeconds, default: 0 }),
    }),
    response: oneOf(issuedKeySchema),
    errors: ["NOT_FOUND"],
    handler: async ({ params, body, caller, id: requestId }) => {
      const issued = await keys.rotate(params.id.toLowerCase(), body.grace_seconds * 1000);
      const by = caller.key?.id ?? null;
      audit.record({ action: "key_rotated", keyId: issued.key.id, by });
      return { data: showIssuedKey(issued), meta: metaOf(requestId, freshness()) };
    },
  });
}
