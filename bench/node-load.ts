/** The load on one serving node, as a process of its own. Sends back how many requests were answered. */
import assert from "node:assert/strict";
import { runSharingLoop, type Target } from "./http-load.ts";

process.on("message", ({ target, forMs }: { target: Target; forMs: number }) => {
  void runSharingLoop(target, forMs).then(({ requests }) => {
    assert(process.send !== undefined, "it was forked");
    process.send({ requests });
  });
});
