/**
 * How much memory Node, the C library and the engine take beyond what they use. Their own bounds are for programs
 * that have nobody beside them: at full speed a backfill's young objects take 110 MB, with this limit 30
 * MB; old ones that nobody needs any more another 130 MB, and what was freed and is kept 150 to 250 MB more
 * than here. None of it saves more than a twentieth of the processor time (decision 0013).
 */
import { setFlagsFromString } from "node:v8";
import { nodeOptions, setWhereMissing } from "./base/config.ts";
import { processLimits } from "./base/limits.ts";

const semiSpaceFlag = "--max-semi-space-size";

/**
 * Begins the process anew with those bounds, unless the operator has set them; everything else stays as it
 * is, the process number too. To be called first, as what was done before is done again. Where Node
 * cannot begin a process anew (before 23.11) only what can be set later is.
 */
export function boundMemory(): void {
  const { semiSpaceMegabytes, heapGrowingPercent, arenas, mappedBytesMin, unusedMs } =
    processLimits;
  const bounds = {
    [semiSpaceFlag]: semiSpaceMegabytes,
    "--heap-growing-percent": heapGrowingPercent,
  };
  const given = nodeOptions();
  const flags = Object.entries(bounds)
    .filter(([name]) => !given.some((option) => option.startsWith(name)))
    .map(([name, value]) => `${name}=${value}`);
  const areAllocatorsAsGiven = setWhereMissing({
    MALLOC_ARENA_MAX: arenas,
    MALLOC_MMAP_THRESHOLD_: mappedBytesMin,
    JE_MALLOC_CONF: `dirty_decay_ms:${unusedMs}`,
  });
  const { execPath, execArgv, argv } = process;
  const isBound = flags.length === 0 && areAllocatorsAsGiven;
  if (!isBound) process.execve?.(execPath, [execPath, ...flags, ...execArgv, ...argv.slice(1)]);
  // What stands there would be taken for every thread's, whatever bound it is made with.
  setFlagsFromString(`${semiSpaceFlag}=0`);
}
