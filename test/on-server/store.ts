import { runOnServer } from "../support/run-on-server.ts";

await runOnServer(["test/store/*.test.ts", "test/stream/*.test.ts"]);
