import { fileURLToPath } from "node:url";

/** Compiled code of all processes that tests start: without it each of them compiles everything again. */
const compiledDir = fileURLToPath(new URL("../../node_modules/.cache/compiled", import.meta.url));

/** What a process needs from the system; settings of the caller's own service are kept away. */
export function systemSettings(): Record<string, string | undefined> {
  const { PATH, HOME, TMPDIR } = process.env;
  return { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE: compiledDir };
}
