/** The lake of `ODDWIRE_LAKE_DIR`: its manifest and files, for admin keys, with ranges and entity tags. */
import { once } from "node:events";
import { fstatSync, ReadStream, type Stats } from "node:fs";
import { send } from "@fastify/send";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { AppError } from "../../base/errors.ts";
import { manifestName, signedManifestSchema } from "../../lake/manifest.ts";
import { defineRoute, type Route } from "../route/route.ts";

/** Returns the routes of a lake by the names of their operations; without a folder they answer 404. */
export function lakeRoutes(folder: string | null): Readonly<Record<string, Route>> {
  const sendFile = (path: string) => (request: FastifyRequest, reply: FastifyReply) => {
    if (folder === null)
      throw new AppError("NOT_FOUND", "This service has no lake: ODDWIRE_LAKE_DIR is not set");
    return sendLakeFile({ folder, path }, request, reply);
  };
  const file = {
    access: "admin",
    isFile: true,
    errors: ["NOT_FOUND", "RANGE_NOT_SATISFIABLE"],
  } as const;
  const manifest = { ...file, response: signedManifestSchema, handler: sendFile(manifestName) };
  const parquet = {
    ...file,
    response: Type.String({ description: "Parquet" }),
    contentType: "application/vnd.apache.parquet",
  };
  return {
    getLake: defineRoute({
      ...manifest,
      path: "/v1/lake",
      summary: "Get the lake",
      description:
        "The manifest of the files that the service writes to `ODDWIRE_LAKE_DIR`: their days, blocks, rows, sizes and hashes. 404 without the setting, and until the first day is written",
    }),
    getLakeManifest: defineRoute({
      ...manifest,
      path: "/v1/lake/manifest.json",
      summary: "Get the manifest as a file",
      description: "The same, where readers of a lake expect it: beside its files",
    }),
    getLakeMarkets: defineRoute({
      ...parquet,
      path: "/v1/lake/markets/snapshot.parquet",
      summary: "Get the markets of the lake",
      handler: sendFile("markets/snapshot.parquet"),
    }),
    getLakeFile: defineRoute({
      ...parquet,
      path: "/v1/lake/{table}/{day}/{part}",
      summary: "Get a file of the lake",
      params: Type.Object({
        table: Type.String({ pattern: "^[a-z0-9_]{1,20}$", "~expected": "a table such as fills" }),
        day: Type.String({
          pattern: "^date=[0-9]{4}-[0-9]{2}-[0-9]{2}$",
          "~expected": "a day such as date=2026-04-28",
        }),
        part: Type.String({
          pattern: "^part-[0-9]{1,6}\\.parquet$",
          "~expected": "a file such as part-0.parquet",
        }),
      }),
      handler: (request, reply) => {
        const { table, day, part } = request.params;
        return sendFile(`${table}/${day}/${part}`)(request, reply);
      },
    }),
  };
}

async function isReplaced(stream: ReadStream, { ino }: Stats): Promise<boolean> {
  const [file] = (await once(stream, "open")) as [number];
  return fstatSync(file).ino !== ino;
}

async function sendLakeFile(
  { folder, path }: { readonly folder: string; readonly path: string },
  { raw }: Pick<FastifyRequest, "raw">,
  reply: FastifyReply,
) {
  // Conditions of requests that write. A download is continued with If-Range.
  for (const name of ["if-match", "if-unmodified-since"]) delete raw.headers[name];
  const options = { root: folder, cacheControl: false, contentType: false };
  const found = await send(raw, path, options);
  if (found.type === "file") {
    const { stream, metadata } = found;
    // An export can replace the file before it is opened, and its length is then another one.
    if (stream instanceof ReadStream && (await isReplaced(stream, metadata.stat))) {
      stream.destroy();
      return sendLakeFile({ folder, path }, { raw }, reply);
    }
    return reply.code(found.statusCode).headers(found.headers).send(stream);
  }
  if (found.statusCode !== 416) throw new AppError("NOT_FOUND", `The lake has no ${path}`);
  reply.header("content-range", found.headers["Content-Range"]);
  throw new AppError("RANGE_NOT_SATISFIABLE");
}
