import type { FileFormat } from "../../../clients/typescript/src/list-file.ts";
import { resolutionSeconds } from "../../market/candle.ts";

type ExportFilter = readonly [
  flags: string,
  parameter: string,
  description: string,
  choices?: readonly string[],
];

type Lists = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Lists whose rows have a position on the chain, by the last part of their path. */
export const rowLists = [
  "trades",
  "fills",
  "matches",
  "cancellations",
  "exchange-events",
  "resolutions",
] as const;

/** Lists of a wallet, and the parameters that their exports have by default: all positions, and final activity. */
export const walletLists: Lists = {
  positions: { order: "asc", status: "all" },
  activity: { order: "asc", status: "finalized" },
  pnl: { order: "asc" },
};

/** Lists of a market. Holders have one order, the largest first; open interest is also that of all markets. */
export const marketLists: Lists = { holders: {}, "open-interest": { order: "asc", start: "0" } };

/** The names of all lists that `export` writes. */
export const exportLists: readonly string[] = [
  "markets",
  "events",
  ...rowLists,
  "candles",
  "stats",
  ...Object.keys(walletLists),
  ...Object.keys(marketLists),
];

/** The formats of files. Each name is also the file extension that selects it. */
export const fileFormats: readonly FileFormat[] = ["ndjson", "csv", "parquet", "arrow"];

/** The file extensions, for messages. */
export const fileEndings = fileFormats.map((name) => `.${name}`).join(", ");

/** The filters of all lists as options. The service refuses a filter that a list does not have. */
export const exportFilters: readonly ExportFilter[] = [
  ["--token <id>", "token_id", "only this token; required for candles"],
  [
    "--market <id>",
    "condition_id",
    "only this market: a condition id, a token id or a slug; required for holders",
  ],
  ["--slug <slugs>", "slug", "only markets with these slugs"],
  ["--event <ids>", "event_id", "only markets of these events"],
  ["--category <names>", "category", "only these categories"],
  ["--tag <names>", "tag", "only markets with one of these tags"],
  ["--wallet <address>", "wallet", "only this wallet; required for positions, activity and pnl"],
  ["--builder <code>", "builder", "only orders with this code"],
  ["--min-price <usd>", "min_price", "from this price, inclusive"],
  ["--max-price <usd>", "max_price", "up to this price, inclusive"],
  ["--min-value <usd>", "min_value", "worth at least this much"],
  ["--start <time>", "start", "from this time, inclusive"],
  ["--end <time>", "end", "until this time, exclusive"],
  ["--from-block <n>", "from_block", "from this block"],
  ["--to-block <n>", "to_block", "through this block"],
  ["--after-seq <seq>", "after_seq", "after this position"],
  [
    "--status <status>",
    "status",
    "only finalized rows, or confirmed ones too (default: finalized; only for lists of what happened)",
    ["confirmed", "finalized"],
  ],
  [
    "--resolution <resolution>",
    "resolution",
    "length of candles (default: 1h), or of stats, pnl and open-interest (default: 1d)",
    [...Object.keys(resolutionSeconds), "1w"],
  ],
];
