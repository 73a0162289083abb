/**
 * How much room Node has for young objects. Its own limit is for programs that have nobody beside
 * them: at full speed a backfill's young objects take 110 MB, with this limit 30 MB, and no more
 * processor time (decision 0013).
 */
import { nodeOptions } from "./base/config.ts";
import { processLimits } from "./base/limits.ts";

/**
 * Begins the process anew with that limit, unless the operator has set one; everything else stays as it
 * is, the process number too. To be called first, as what was done before is done again. Does nothing
 * where Node cannot begin a process anew (before 23.11).
 */
export function limitYoungGeneration(): void {
  const name = "--max-semi-space-size";
  if (nodeOptions().some((option) => option.startsWith(name))) return;
  const { execPath, execArgv, argv } = process;
  const flag = `${name}=${processLimits.semiSpaceMegabytes}`;
  process.execve?.(execPath, [execPath, flag, ...execArgv, ...argv.slice(1)]);
}
