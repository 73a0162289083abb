import { Type } from "typebox";
import { scopes } from "../../../access/key-format.ts";
import { webLimits } from "../../../base/config/limits.ts";
import { validationError } from "../../http/compile-reader.ts";
import { ipRange, parsedText, time } from "../../http/parameters.ts";
import { defineRoute, type Route } from "../../http/route.ts";
import { oneOf } from "../../lists/list-answer.ts";
import { metaOf } from "../../meta.ts";
import { issuedKeySchema, type KeyServices, showIssuedKey } from "./key-shape.ts";

const name = parsedText({
  parse: (text) => (isName(text) ? text : null),
  expected: "text of 1 to 100 printable characters, without spaces around it",
  keywords: { minLength: 1, maxLength: 100 },
});

/** Makes a key. */
export function createKey({ keys, audit, clock, freshness }: KeyServices): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/keys",
    access: "admin",
    summary: "Generate an API key; its value is shown this once",
    body: Type.Object({
      name,
      scope: Type.Enum([...scopes], { default: "read" }),
      expires_at: Type.Optional(time),
      allowed_ips: Type.Optional(
        Type.Array(ipRange, { minItems: 1, maxItems: webLimits.allowedIpsMax }),
      ),
    }),
    status: 201,
    response: oneOf(issuedKeySchema),
    errors: ["CONFLICT"],
    handler: async ({ body, caller, id: requestId }) => {
      const expiresAtMs = body.expires_at ?? null;
      if (expiresAtMs !== null && expiresAtMs <= clock.nowMs())
        throw validationError([{ parameter: "expires_at", issue: "must be in the future" }]);
      const allowedIps = body.allowed_ips ?? [];
      const issued = await keys.create({
        name: body.name,
        scope: body.scope,
        expiresAtMs,
        allowedIps,
      });
      const by = caller.key?.id ?? null;
      audit.record({ action: "key_created", keyId: issued.key.id, by });
      return { data: showIssuedKey(issued), meta: metaOf(requestId, freshness()) };
    },
  });
}

/** Names are shown in terminals and logs: nothing invisible, no half characters. */
function isName(text: string): boolean {
  return /^[^\p{C}\p{Z}](?:[^\p{C}\p{Zl}\p{Zp}]{0,98}[^\p{C}\p{Z}])?$/u.test(text);
}
