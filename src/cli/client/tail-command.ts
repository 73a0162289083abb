import { type Command, exitCodes, type Words } from "../command.ts";
import { signalToStop } from "../service/await-signal.ts";
import { apiOptions, readApi } from "./api-options.ts";
import { printTrades, type TradeFilter } from "./print-trades.ts";

/** Follows a running service. */
export const tail: Command = {
  name: "tail",
  summary: "Print trades as they happen",
  details: "The newest ten first, or all since a time. Filters are combined.",
  options: {
    market: { value: "ID", description: "Only this market: a condition id, a token id or a slug" },
    wallet: { value: "ADDRESS", description: "Only trades of this wallet, as maker or taker" },
    side: { value: "SIDE", choices: ["BUY", "SELL"], description: "Only this side of the taker" },
    "min-value": { value: "USD", description: "Only trades worth at least this" },
    since: { value: "TIME", description: "Begin at this time, such as 2026-11-01T00:00:00Z" },
    json: { description: "One JSON row a line" },
    ...apiOptions,
  },
  examples: [
    "oddwire tail --key-file ./key --min-value 1000",
    "oddwire tail --url https://data.example.com --key ow_read_... --market SLUG --json",
  ],
  run: async (words) => {
    await printTrades({
      ...readApi(words),
      asJson: words.isOn("json"),
      write: (line) => process.stdout.write(`${line}\n`),
      signal: signalToStop(),
      filter: filterOf(words),
      since: words.text("since"),
    });
    return exitCodes.done;
  },
};

/** What is not given is left out: the service refuses empty fields. */
function filterOf(words: Words): TradeFilter {
  const given = {
    market: words.text("market"),
    wallet: words.text("wallet"),
    side: words.text("side"),
    min_value: words.text("min-value"),
  };
  return Object.fromEntries(Object.entries(given).filter(([, text]) => text !== null));
}
