import type { FileFormat } from "../../../clients/typescript/src/list-file.ts";
import { resolutionSeconds } from "../../market/candle.ts";

type ExportFilter = {
  readonly flags: string;
  readonly parameter: string;
  readonly description: string;
  readonly choices?: readonly string[];
};

/** Lists whose rows have a position on the chain, by the last part of their path. */
export const rowLists = [
  "trades",
  "fills",
  "matches",
  "cancellations",
  "exchange-events",
  "resolutions",
] as const;

/** The names of all lists that `export` writes. */
export const exportLists: readonly string[] = [
  "markets",
  "events",
  ...rowLists,
  "candles",
  "stats",
  "positions",
  "activity",
];

/** The formats of files. Each name is also the file extension that selects it. */
export const fileFormats: readonly FileFormat[] = ["ndjson", "csv", "parquet", "arrow"];

/** The file extensions, for messages. */
export const fileEndings = fileFormats.map((name) => `.${name}`).join(", ");

/** The filters of all lists as options. The service refuses a filter that a list does not have. */
export const exportFilters: readonly ExportFilter[] = [
  {
    flags: "--token <id>",
    parameter: "token_id",
    description: "only this token; required for candles",
  },
  {
    flags: "--market <id>",
    parameter: "condition_id",
    description: "only this market: a condition id, a token id or a slug",
  },
  { flags: "--slug <slugs>", parameter: "slug", description: "only markets with these slugs" },
  { flags: "--event <ids>", parameter: "event_id", description: "only markets of these events" },
  { flags: "--category <names>", parameter: "category", description: "only these categories" },
  { flags: "--tag <names>", parameter: "tag", description: "only markets with one of these tags" },
  {
    flags: "--wallet <address>",
    parameter: "wallet",
    description: "only this wallet; required for positions and activity",
  },
  { flags: "--builder <code>", parameter: "builder", description: "only orders with this code" },
  { flags: "--min-price <usd>", parameter: "min_price", description: "from this price, inclusive" },
  {
    flags: "--max-price <usd>",
    parameter: "max_price",
    description: "up to this price, inclusive",
  },
  { flags: "--min-value <usd>", parameter: "min_value", description: "worth at least this much" },
  { flags: "--start <time>", parameter: "start", description: "from this time, inclusive" },
  { flags: "--end <time>", parameter: "end", description: "until this time, exclusive" },
  { flags: "--from-block <n>", parameter: "from_block", description: "from this block" },
  { flags: "--to-block <n>", parameter: "to_block", description: "through this block" },
  { flags: "--after-seq <seq>", parameter: "after_seq", description: "after this position" },
  {
    flags: "--status <status>",
    parameter: "status",
    description:
      "only finalized rows, or confirmed ones too (default: finalized; not for candles and stats)",
    choices: ["confirmed", "finalized"],
  },
  {
    flags: "--resolution <resolution>",
    parameter: "resolution",
    description: "length of candles (default: 1h) or of stats (default: 1d)",
    choices: Object.keys(resolutionSeconds),
  },
];
