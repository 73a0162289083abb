import { maxUint256 } from "viem";
import {
  addresses,
  admin,
  type Deployed,
  deployOrder,
  feeReceiver,
  operator,
  traders,
  type Venue,
  venues,
} from "./addresses.ts";
import { type ContractName, encodeCall, encodeDeployment } from "./artifacts.ts";
import type { DemoChain } from "./demo-chain.ts";

/** A billion dollars for each trader. */
const traderMicros = 10n ** 15n;

/** Deploys all contracts on an empty chain, and authorizes the operators and the traders. */
export async function deploy(chain: DemoChain, seconds: number): Promise<void> {
  for (const name of deployOrder) {
    const [contract, args] = constructions[name];
    await chain.send({ from: admin, to: null, data: encodeDeployment(contract, args) });
  }
  await chain.mine(seconds);
  await mintCollateral(chain);
  for (const venue of Object.values(venues)) await openVenue(chain, venue);
  await chain.mine(seconds + 1);
}

const constructions: Readonly<Record<Deployed, readonly [ContractName, readonly unknown[]]>> = {
  collateral: ["Collateral", ["USDD", admin]],
  wrappedCollateral: ["Collateral", ["WUSDD", addresses.negRiskAdapter]],
  conditionalTokens: ["ConditionalTokens", []],
  negRiskAdapter: [
    "NegRiskAdapter",
    [addresses.conditionalTokens, addresses.collateral, addresses.wrappedCollateral],
  ],
  negRiskOperator: ["NegRiskOperator", [addresses.negRiskAdapter, addresses.negRiskUmaAdapter]],
  umaAdapter: ["UmaAdapter", [addresses.conditionalTokens, addresses.collateral]],
  negRiskUmaAdapter: ["UmaAdapter", [addresses.negRiskOperator, addresses.collateral]],
  exchangeV1: ["ExchangeV1", [getSetup(venues.standardV1)]],
  negRiskExchangeV1: ["ExchangeV1", [getSetup(venues.negRiskV1)]],
  exchangeV2: ["ExchangeV2", [getSetup(venues.standardV2), feeReceiver]],
  negRiskExchangeV2: ["ExchangeV2", [getSetup(venues.negRiskV2), feeReceiver]],
  feeModule: ["FeeModule", [addresses.exchangeV1, getSetup(venues.standardV1), operator]],
  negRiskFeeModule: [
    "FeeModule",
    [addresses.negRiskExchangeV1, getSetup(venues.negRiskV1), operator],
  ],
};

function getSetup({ minter, backing }: Venue) {
  const { collateral, conditionalTokens: tokens } = addresses;
  return { collateral, tokens, minter, backing };
}

async function mintCollateral(chain: DemoChain): Promise<void> {
  for (const trader of traders) {
    const data = encodeCall("Collateral", "mint", [trader, traderMicros]);
    await chain.send({ from: admin, to: addresses.collateral, data });
  }
}

async function openVenue(chain: DemoChain, venue: Venue): Promise<void> {
  const { exchange, entry, minter } = venue;
  const bringer = entry === exchange ? operator : entry;
  const contract = venue.generation === 1 ? "ExchangeV1" : "ExchangeV2";
  for (const data of [
    encodeCall(contract, "addOperator", [bringer]),
    encodeCall(contract, "unpauseTrading", []),
  ]) {
    await chain.send({ from: admin, to: exchange, data });
  }
  const { collateral, conditionalTokens } = addresses;
  const spend = [exchange, minter].map((one) =>
    encodeCall("Collateral", "approve", [one, maxUint256]),
  );
  const sell = encodeCall("ConditionalTokens", "setApprovalForAll", [exchange, true]);
  for (const from of traders) {
    for (const data of spend) await chain.send({ from, to: collateral, data });
    await chain.send({ from, to: conditionalTokens, data: sell });
  }
}
