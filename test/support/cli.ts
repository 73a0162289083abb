import { fileURLToPath } from "node:url";

/** Whether `npm test` has built the package's code, as users install it. */
const isBuilt = process.env["ODDWIRE_TEST_BUILD"] === "1";
const path = isBuilt ? "../../node_modules/.cache/oddwire/cli.js" : "../../src/cli.ts";

/** The program that tests start: the built code if there is any, else the source. */
export const cli = fileURLToPath(new URL(path, import.meta.url));
