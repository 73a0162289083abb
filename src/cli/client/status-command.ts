import { OddwireClient } from "../../../clients/typescript/src/client.ts";
import { toPlainLine } from "../../base/plain-text.ts";
import { exitCodes, formatTable, print } from "../command.ts";
import { type ApiOptions, readUrl } from "./api-options.ts";
import { callService } from "./call-service.ts";

/** Prints whether a running service is ready, with its checks. */
export async function showStatus(options: ApiOptions & { readonly json?: true }): Promise<number> {
  const url = readUrl(options);
  const client = new OddwireClient({
    url,
    backoff: { attempts: 1, firstWaitMs: 0, longestWaitMs: 0 },
  });
  let isReady = false;
  await callService(async () => {
    const [{ version, uptime_seconds }, ready] = await Promise.all([
      client.health(),
      client.ready(),
    ]);
    isReady = ready.status === "ready";
    if (options.json === true) {
      print(JSON.stringify({ url, version, uptime_seconds, ...ready }));
      return;
    }
    const checks = Object.entries(ready.checks).map(([name, { ok, detail }]) => [
      toPlainLine(name),
      ok ? "ok" : "not ok",
      toPlainLine(detail),
    ]);
    const verdict = isReady ? "ready" : "not ready";
    print(`${url} is ${verdict} (version ${version}, up for ${uptime_seconds} s)\n`);
    print(formatTable([["CHECK", "STATE", "DETAIL"], ...checks]));
  });
  return isReady ? exitCodes.done : exitCodes.failed;
}
