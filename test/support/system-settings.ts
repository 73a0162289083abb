import { fileURLToPath } from "node:url";

/** The compile cache of all processes that tests start. Without it each of them compiles everything again. */
const compiledDir = fileURLToPath(new URL("../../node_modules/.cache/compiled", import.meta.url));

/** The environment that a process needs from the system, without settings of the caller's service. */
export function systemSettings(): Record<string, string | undefined> {
  const { PATH, HOME, TMPDIR } = process.env;
  return { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE: compiledDir };
}
