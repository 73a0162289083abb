/**
 * How much memory Node and the C library take beyond what they use. Their own bounds are for programs
 * that have nobody beside them: at full speed a backfill's young objects take 110 MB, with this limit 30
 * MB, and what was freed and is kept another 70 to 170 MB more than here; neither saves processor time
 * (decision 0013).
 */
import { nodeOptions, setAllocator } from "./base/config.ts";
import { processLimits } from "./base/limits.ts";

/**
 * Begins the process anew with those bounds, unless the operator has set them; everything else stays as it
 * is, the process number too. To be called first, as what was done before is done again. Does nothing
 * where Node cannot begin a process anew (before 23.11).
 */
export function boundMemory(): void {
  const name = "--max-semi-space-size";
  const isGiven = nodeOptions().some((option) => option.startsWith(name));
  const flags = isGiven ? [] : [`${name}=${processLimits.semiSpaceMegabytes}`];
  const { arenas, mappedBytesMin } = processLimits;
  const isAllocatorAsGiven = setAllocator({ arenas, mappedBytesMin });
  if (isGiven && isAllocatorAsGiven) return;
  const { execPath, execArgv, argv } = process;
  process.execve?.(execPath, [execPath, ...flags, ...execArgv, ...argv.slice(1)]);
}
