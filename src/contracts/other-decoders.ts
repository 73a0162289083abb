import type { Decoder } from "./decoder.ts";
import { feeModuleDecoders } from "./events/exchange-v1-events.ts";
import { gen3MarketDecoders } from "./events/gen3-market-events.ts";
import { marketDecoders } from "./events/market-events.ts";

/** The decoders of the contracts that are not exchanges, by their kind. */
export const otherDecoders = {
  fee_module: feeModuleDecoders,
  ...marketDecoders,
  /** An oracle without events. Its conditions are markets without a title. */
  oracle: [],
  ...gen3MarketDecoders,
  /** Contracts that hold tokens only within a transaction of a user. */
  collateral_adapter: [],
  auto_redeemer: [],
  router: [],
  /** Receives the fees of conversions. */
  neg_risk_vault: [],
  /** Receives the tokens that conversions destroy. */
  burn_address: [],
} satisfies Readonly<Record<string, readonly Decoder[]>>;
