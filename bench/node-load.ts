/** The load on one serving node, as a process of its own. Sends back how many requests were answered. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { runSharingLoop, type Target } from "./http-load.ts";

for (;;) {
  const [{ target, forMs }] = (await once(process, "message")) as [
    { target: Target; forMs: number },
  ];
  const { requests } = await runSharingLoop(target, forMs);
  assert(process.send !== undefined, "it was forked");
  process.send({ requests });
}
