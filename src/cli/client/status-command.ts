import { OddwireClient } from "../../../client/src/client.ts";
import { type Command, exitCodes } from "../command.ts";
import { apiOptions, readUrl } from "./api-options.ts";
import { callService } from "./call-service.ts";
import { formatTable } from "./format-table.ts";

/** Shows how a running service is doing. */
export const status: Command = {
  name: "status",
  summary: "Show whether a service is ready, and why not",
  details:
    "Needs no key. Ends with 0 when the service is ready, and with 1 when it is not or cannot be reached.",
  options: { url: apiOptions.url, json: { description: "One JSON object" } },
  examples: ["oddwire status", "oddwire status --url https://data.example.com --json"],
  run: async (words) => {
    const url = readUrl(words);
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
      if (words.isOn("json")) {
        print(`${JSON.stringify({ url, version, uptime_seconds, ...ready })}\n`);
        return;
      }
      const checks = Object.entries(ready.checks).map(([name, { ok, detail }]) => [
        name,
        ok ? "ok" : "not ok",
        detail,
      ]);
      const verdict = isReady ? "ready" : "not ready";
      print(`${url} is ${verdict} (version ${version}, up for ${uptime_seconds} s)\n\n`);
      print(formatTable([["CHECK", "STATE", "DETAIL"], ...checks]));
    });
    return isReady ? exitCodes.done : exitCodes.failed;
  },
};

function print(text: string): void {
  process.stdout.write(text);
}
