import { runOnServer } from "../support/run-files.ts";

await runOnServer(["test/store/*.test.ts", "test/stream/*.test.ts"]);
