import { formatConfig, readConfig } from "../../base/config/config.ts";
import { exitCodes } from "../command.ts";

/** Prints the settings in force as environment variables. */
export async function printConfig(): Promise<number> {
  process.stdout.write(formatConfig(readConfig("administer")));
  return exitCodes.done;
}
