import type { Decoder } from "./decoder.ts";
import { feeModuleDecoders } from "./events/exchange-v1-events.ts";
import { gen3MarketDecoders } from "./events/gen3-market-events.ts";
import { marketDecoders } from "./events/market-events.ts";
import { oracleDecoders } from "./events/oracle-events.ts";

/** The decoders of the contracts that are not exchanges, by their kind. */
export const otherDecoders = {
  fee_module: feeModuleDecoders,
  ...marketDecoders,
  uma_adapter_v1: [...marketDecoders.uma_adapter_v1, ...oracleDecoders.uma_adapter_v1],
  uma_adapter: [...marketDecoders.uma_adapter, ...oracleDecoders.uma_adapter],
  optimistic_oracle: oracleDecoders.optimistic_oracle,
  /** An oracle without events. Its conditions are markets without a title. */
  oracle: [],
  ...gen3MarketDecoders,
  oracle_aggregator: [...gen3MarketDecoders.oracle_aggregator, ...oracleDecoders.oracle_aggregator],
  oo_reporter: [...gen3MarketDecoders.oo_reporter, ...oracleDecoders.oo_reporter],
  /** Contracts that hold tokens only within a transaction of a user. */
  collateral_adapter: [],
  auto_redeemer: [],
  router: [],
  /** Receives the fees of conversions. */
  neg_risk_vault: [],
  /** Receives the tokens that conversions destroy. */
  burn_address: [],
} satisfies Readonly<Record<string, readonly Decoder[]>>;
