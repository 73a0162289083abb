/** The lake of `ODDWIRE_LAKE_DIR` at `/v1/lake`: its manifest and files, for admin keys, with ranges and entity tags. */
import { send } from "@fastify/send";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { AppError } from "../../base/errors.ts";
import { isLakePath, manifestName } from "../../lake/manifest.ts";
import { defineRoute, type Route } from "../route/route.ts";

/** A segment of a path. */
const segment = Type.String({ maxLength: 100 });

/** Returns the routes of a lake; without a folder they say how to configure one. */
export function lakeRoutes(folder: string | null): readonly Route[] {
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const path = Object.values(request.params as Record<string, string>).join("/") || manifestName;
    if (folder === null) {
      throw new AppError("NOT_FOUND", "This service has no lake: ODDWIRE_LAKE_DIR is not set");
    }
    if (path !== manifestName && !isLakePath(path)) throw new AppError("NOT_FOUND");
    const found = await send(request.raw, path, { root: folder, cacheControl: false });
    if (found.type === "error") throw toAppError(found.statusCode, path);
    if (found.type !== "file") throw new AppError("NOT_FOUND");
    return reply.code(found.statusCode).headers(found.headers).send(found.stream);
  };
  return ["", "/{one}", "/{one}/{two}", "/{one}/{two}/{three}"].map((rest) =>
    defineRoute({
      path: `/v1/lake${rest}`,
      access: "admin",
      summary: "Get the lake",
      params: Type.Object(
        Object.fromEntries([...rest.matchAll(/\w+/g)].map(([name]) => [name, segment])),
      ),
      response: Type.String(),
      contentType: "application/octet-stream",
      handler: answer,
    }),
  );
}

function toAppError(status: number, path: string): AppError {
  if (status !== 416) return new AppError("NOT_FOUND", `The lake has no ${path}`);
  return new AppError("VALIDATION_ERROR", "The requested range is not in the file");
}
