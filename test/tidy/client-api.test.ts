import assert from "node:assert/strict";
import { test } from "node:test";
import { formatClientApi } from "./client-api.ts";
import { readText } from "./project-files.ts";

test("the types of the client equal those generated from the schemas", async () => {
  const made = await formatClientApi();
  assert.ok(
    made === readText("clients/typescript/src/api.ts"),
    "clients/typescript/src/api.ts differs: run npm run docs",
  );
});
