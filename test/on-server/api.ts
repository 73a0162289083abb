import { runOnServer } from "../support/run-files.ts";

await runOnServer(["test/api/*.test.ts"]);
