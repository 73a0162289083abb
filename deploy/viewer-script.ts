/** The script of the viewer of the API reference. A checkout reads it here; a package has it as a file. */

import scalar from "@scalar/fastify-api-reference";
import fastify from "fastify";

/** What the viewer shows in place of a key: one looks like a real one, neither like ours. */
const theirKeys = /QUxMIFlPVVIgQkFTRSBBUkUgQkVMT05HIFRPIFVT|YOUR_SECRET_TOKEN/g;

/** Reads the script through a Fastify server that never listens, because only the package's plugin has it. */
export async function readViewerScript(): Promise<Buffer> {
  const server = fastify();
  await server.register(scalar, {
    routePrefix: "/docs",
    configuration: { url: "/v1/openapi.json" },
  });
  const { payload, statusCode } = await server.inject("/docs/js/scalar.js");
  await server.close();
  if (statusCode !== 200) throw new Error(`the viewer's script is not where it was: ${payload}`);
  return Buffer.from(payload.replaceAll(theirKeys, "ow_read_..."));
}
