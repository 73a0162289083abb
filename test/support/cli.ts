import { fileURLToPath } from "node:url";

/** What `npm test` builds first: the package's own code, as users install it. */
const isBuilt = process.env["ODDWIRE_TEST_BUILD"] === "1";
const path = isBuilt ? "../../node_modules/.cache/oddwire/cli.js" : "../../src/cli.ts";

/** The program that tests start: the source, unless it was built for them. */
export const cli = fileURLToPath(new URL(path, import.meta.url));
