import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CommandError, exitCodes } from "../command.ts";
import { type FlagValues, toEnvironment } from "./setting-flags.ts";

const script = fileURLToPath(new URL("../../../demo/demo.ts", import.meta.url));

/** Runs the demo in a child process. A checkout and the package contain the demo; the image does not. */
export async function runDemo(options: FlagValues): Promise<number> {
  if (!existsSync(script)) throw new CommandError("the demo does not come with the image");
  const { seed } = options;
  const flags = seed === undefined ? [] : ["--seed", seed];
  const child = spawn(process.execPath, [script, ...flags], {
    stdio: "inherit",
    env: toEnvironment(options),
  });
  // A terminal sends SIGINT to both processes. SIGTERM is passed on to the child.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? exitCodes.bug;
}
