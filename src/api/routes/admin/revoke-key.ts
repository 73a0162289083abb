import { Type } from "typebox";
import { defineRoute, type Route } from "../../http/route.ts";
import { type KeyServices, keyParams } from "./key-shape.ts";

/** The answer is fixed by the specification, bare of `data` and `meta`. */
export function revokeKey({ keys, audit }: Pick<KeyServices, "keys" | "audit">): Route {
  return defineRoute({
    method: "DELETE",
    path: "/v1/keys/{id}",
    access: "admin",
    summary: "Revoke an API key, immediately and for good",
    params: keyParams,
    response: Type.Object({ message: Type.Literal("Key revoked") }),
    errors: ["NOT_FOUND"],
    handler: async ({ params, caller }) => {
      const keyId = params.id.toLowerCase();
      await keys.revoke(keyId);
      audit.record({ action: "key_revoked", keyId, by: caller.key?.id ?? null });
      return { message: "Key revoked" } as const;
    },
  });
}
