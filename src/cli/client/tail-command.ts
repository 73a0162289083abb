import { type Command, exitCodes } from "../command.ts";
import { signalToStop } from "../service/await-signal.ts";
import { apiOptions, readApi } from "./api-options.ts";
import { printTrades } from "./print-trades.ts";

/** Follows a running service. */
export const tail: Command = {
  name: "tail",
  summary: "Print trades as they happen",
  options: { ...apiOptions, json: { description: "One JSON row a line" } },
  examples: [
    "oddwire tail --key-file ./key",
    "oddwire tail --url https://data.example.com --key ow_read_... --json",
  ],
  run: async (words) => {
    await printTrades({
      ...readApi(words),
      asJson: words.isOn("json"),
      write: (line) => process.stdout.write(`${line}\n`),
      signal: signalToStop(),
    });
    return exitCodes.done;
  },
};
