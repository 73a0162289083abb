import { exitCodes } from "../command.ts";
import { signalToStop } from "../service/await-signal.ts";
import { type ApiOptions, readApi } from "./api-options.ts";
import { printTrades } from "./print-trades.ts";

type TailOptions = ApiOptions & {
  readonly market?: string;
  readonly wallet?: string;
  readonly side?: "BUY" | "SELL";
  readonly minValue?: string;
  readonly since?: string;
  readonly json?: true;
};

/** Prints the trades of a running service until a signal. */
export async function tail(options: TailOptions): Promise<number> {
  const { market, wallet, side, minValue: min_value, since = null, json = false } = options;
  await printTrades({
    ...readApi(options),
    asJson: json,
    write: (line) => process.stdout.write(`${line}\n`),
    signal: signalToStop(),
    filter: { market, wallet, side, min_value },
    since,
  });
  return exitCodes.done;
}
