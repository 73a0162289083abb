import { formatConfig, readConfig } from "../../base/config/config.ts";
import { type Command, exitCodes } from "../command.ts";

/** Prints what `serve` would run with. */
export const config: Command = {
  name: "config",
  summary: "Print the settings in force",
  details: "As lines to put into the environment; secrets are not shown, endpoints by host only.",
  options: {},
  examples: ["oddwire config", "ODDWIRE_PORT=9000 oddwire config"],
  run: async () => {
    process.stdout.write(formatConfig(readConfig("administer")));
    return exitCodes.done;
  },
};
