import { version } from "../../base/config/version.ts";
import { runService } from "./run-service.ts";
import type { FlagValues } from "./setting-flags.ts";

/** Runs an indexer of a cluster until a signal, or until only a restart can help. */
export async function runIndexer(options: FlagValues): Promise<number> {
  return runService("index", options, welcome);
}

/** Runs a serving node of a cluster in the same way. */
export async function runNode(options: FlagValues): Promise<number> {
  return runService("api", options, welcome);
}

async function welcome(_config: unknown, url: string): Promise<string> {
  return `${JSON.stringify({ listening: url, version })}\n`;
}
