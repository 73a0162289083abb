import { Type } from "typebox";
import { defineRoute, type Route } from "../route.ts";
import { type KeyServices, keyParams } from "./key-shape.ts";

/** The answer is fixed by the specification, bare of `data` and `meta`. */
export function revokeKey({ keys }: Pick<KeyServices, "keys">): Route {
  return defineRoute({
    method: "DELETE",
    path: "/v1/keys/{id}",
    access: "admin",
    summary: "Revoke an API key, at once and for good",
    params: keyParams,
    response: Type.Object({ message: Type.Literal("Key revoked") }),
    errors: ["NOT_FOUND"],
    handler: async ({ params }) => {
      await keys.revoke(params.id.toLowerCase());
      return { message: "Key revoked" } as const;
    },
  });
}
