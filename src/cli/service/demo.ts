import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { AppError } from "../../base/errors.ts";
import { type Command, exitCodes } from "../command.ts";
import { environmentOf, settingFlags } from "./setting-flags.ts";

const script = fileURLToPath(new URL("../../../demo/demo.ts", import.meta.url));

/** Runs the demo, which comes with a checkout and not with the image, as a process of its own. */
export const demo: Command = {
  name: "demo",
  summary: "Run a market on a local chain, and the service on top of it",
  details:
    "Nothing leaves this machine. The next start goes on where the last one was; delete .demo to start over. ODDWIRE_PORT, ODDWIRE_DATA_DIR and other settings hold, except those of the chain, the venue and the keys.",
  options: {
    ...settingFlags(["port", "data-dir"]),
    seed: { value: "NUMBER", description: "play the same market again" },
  },
  examples: ["oddwire demo", "oddwire demo --port 8090 --seed 7"],
  run: async (words) => {
    if (!existsSync(script)) throw failure("the demo does not come with the image");
    for (const name of ["@foundry-rs/anvil/package.json", "viem"]) requireForDemo(name);
    const seed = words.text("seed");
    const flags = seed === null ? [] : ["--seed", seed];
    const child = spawn(process.execPath, [script, ...flags], {
      stdio: "inherit",
      env: environmentOf(words),
    });
    // A terminal interrupts both; a request to end this process is passed on.
    process.on("SIGINT", () => {});
    process.on("SIGTERM", () => child.kill("SIGTERM"));
    const [code] = (await once(child, "exit")) as [number | null];
    return code ?? exitCodes.bug;
  },
};

function failure(publicMessage: string, cause?: unknown): AppError {
  return new AppError("SERVICE_UNAVAILABLE", { publicMessage, cause });
}

/** The packages that only the demo needs are optional: an installation may have left them out. */
function requireForDemo(name: string): void {
  try {
    createRequire(script).resolve(name);
  } catch (cause) {
    const packages = "npm install @foundry-rs/anvil viem";
    throw failure(`the demo needs Anvil and viem, which are missing: ${packages}`, cause);
  }
}
