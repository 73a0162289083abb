import { runOnServer } from "../support/run-on-server.ts";

await runOnServer(["test/api/*.test.ts"]);
